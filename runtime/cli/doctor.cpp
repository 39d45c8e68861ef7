// tilewright doctor
#include <fmt/format.h>

#include <array>
#include <charconv>
#include <cstdlib>
#include <fstream>
#include <nlohmann/json.hpp>
#include <ostream>

#include "compiler/compile.h"
#include "compiler/nvrtc/library.h"
#include "runtime/assemble/process.h"
#include "runtime/assemble/tools.h"
#include "runtime/cache/disk_cache.h"
#include "runtime/cli/command.h"
#include "runtime/cli/ledger.h"
#include "runtime/cuda/driver_api.h"

namespace tilewright::cli {
namespace {

namespace fs = std::filesystem;

/// absent: Tilewright works without it, with less. broken: it is there, or was asked for, and cannot be used.
enum class State { ok, absent, broken };
constexpr std::array kStates{"ok", "absent", "BROKEN"};

struct Finding {
  std::string name;
  State state;
  std::string what;
  std::string mend;  ///< what to do; empty where nothing is wrong
};
using Findings = std::vector<Finding>;

constexpr const char* kWithoutCard = "; without it kernels run on the simulated device (--device sim)";

std::string kernel_driver_version() {
  std::ifstream file("/proc/driver/nvidia/version");
  std::string line;
  std::getline(file, line);
  const std::size_t begin = line.find_first_of("0123456789", line.find("Kernel Module"));
  return begin == line.npos ? "" : line.substr(begin, line.find(' ', begin) - begin);
}

struct Listed {
  int ordinal, multiprocessors, major, minor;
  std::string name;
};
/// The cards that the driver lists.
std::vector<Listed> listed_cards(const cuda::DriverApi& api) {
  int count = 0;
  api.check(api.cuDeviceGetCount(&count), "cuDeviceGetCount");
  std::vector<Listed> cards;
  for (int ordinal = 0; ordinal < count; ++ordinal) {
    std::array<char, 256> name{};
    int device = 0, multiprocessors = 0, major = 0, minor = 0;
    api.check(api.cuDeviceGet(&device, ordinal), "cuDeviceGet");
    api.check(api.cuDeviceGetName(name.data(), static_cast<int>(name.size()) - 1, device), "cuDeviceGetName");
    api.check(api.cuDeviceGetAttribute(&multiprocessors, cuda::kMultiprocessorCount, device), "cuDeviceGetAttribute");
    api.check(api.cuDeviceGetAttribute(&major, cuda::kComputeCapabilityMajor, device), "cuDeviceGetAttribute");
    api.check(api.cuDeviceGetAttribute(&minor, cuda::kComputeCapabilityMinor, device), "cuDeviceGetAttribute");
    cards.push_back({ordinal, multiprocessors, major, minor, name.data()});
  }
  return cards;
}

/// The driver, and each card that it lists. True when one of them is a Hopper.
bool look_at_cards(Findings& findings) {
  const cuda::DriverApi* api = nullptr;
  const std::string kernel_driver = kernel_driver_version();
  try {
    api = &cuda::driver();
  } catch (const Error& error) {
    const char* named = std::getenv("TILEWRIGHT_LIBCUDA");
    const bool installed = !kernel_driver.empty() || (named != nullptr && *named != '\0');
    findings.push_back({"driver", installed ? State::broken : State::absent, error.what(),
                        std::string("on a machine with a Hopper: install the NVIDIA driver 570 or newer") + kWithoutCard});
    return false;
  }
  int version = 0;
  api->check(api->cuDriverGetVersion(&version), "cuDriverGetVersion");
  const std::string words = fmt::format("for CUDA {}.{}{}", version / 1000, version % 1000 / 10, kernel_driver.empty() ? "" : ", " + kernel_driver);
  if (version >= 12080) findings.push_back({"driver", State::ok, words, ""});
  else
    findings.push_back({"driver", State::broken, words + ": older than the PTX, so only cubins made by ptxas can be loaded",
                        "install the NVIDIA driver 570 or newer"});
  bool hopper = false;
  for (const Listed& card : listed_cards(*api)) {
    const bool fits = card.major == 9 && card.minor == 0;
    hopper = hopper || fits;
    findings.push_back({fmt::format("card {}", card.ordinal), fits ? State::ok : State::absent,
                        fmt::format("{}, {} SMs, compute capability {}.{}", card.name, card.multiprocessors, card.major, card.minor),
                        fits ? "" : std::string("kernels need compute capability 9.0 (H100, H200, GH200)") + kWithoutCard});
  }
  return hopper;
}

/// "12.8.93" is at least 12.8.
bool new_enough(const std::string& version) {
  int major = 0, minor = 0;
  const char* end = version.data() + version.size();
  const auto first = std::from_chars(version.data(), end, major);
  if (first.ptr < end) std::from_chars(first.ptr + 1, end, minor);
  return major > 12 || (major == 12 && minor >= 8);
}

Finding look_at_program(const std::string& name, const assemble::FoundTool& tool) {
  try {
    const std::string version = assemble::version_of(tool.path), words = version + ", " + tool.path.string() + " (" + tool.origin + ")";
    if (new_enough(version)) return {name, State::ok, words, ""};
    return {name, State::broken, words + ": PTX 8.7 needs 12.8 or newer", "run scripts/setup.sh, or set TILEWRIGHT_PTXAS to a newer one"};
  } catch (const Error& error) {
    return {name, State::broken, error.what(), "run scripts/setup.sh"};
  }
}

/// The program that is used, or why there is none.
void look_at_tool(Findings& findings, const std::string& name, assemble::Tool tool, const char* lost) {
  try {
    if (const auto found = assemble::find_tool(tool)) findings.push_back(look_at_program(name, *found));
    else
      try {
        assemble::require_tool(tool);
      } catch (const Error& error) {
        findings.push_back({name, State::absent, error.what(), lost});
      }
  } catch (const Error& error) {
    findings.push_back({name, State::broken, error.what(), "unset the variable, or name an executable file"});
  }
}

void look_at_assemblers(Findings& findings) {
  look_at_tool(findings, "ptxas", assemble::Tool::ptxas, "without ptxas the driver assembles kernels as it loads them: slower to start, no resource report, no cubin");
  for (const char* version : {"12.8", "13.0"}) {
    const fs::path folder = assemble::tools_folder() / ("cuda-" + std::string(version));
    const std::string name = "ptxas " + std::string(version);
    bool found = false;
    for (const assemble::FoundTool& tool : assemble::contract_assemblers())
      if (tool.path == fs::absolute(folder / "bin" / "ptxas")) {
        findings.push_back(look_at_program(name, tool));
        found = true;
      }
    if (!found)
      findings.push_back({name, State::absent, "none in " + folder.string(), "scripts/setup.sh installs it; the contracts of kernels are tested with 12.8 and 13.0"});
  }
  look_at_tool(findings, "nvdisasm", assemble::Tool::nvdisasm, "without nvdisasm `tilewright inspect --stage sass` does not work");
}

void look_at_nvrtc(Findings& findings) {
  try {
    const nvrtc::Found found = nvrtc::require();
    findings.push_back({"NVRTC", State::ok, found.version + ", " + found.path, ""});
  } catch (const Error& error) {
    const char* named = std::getenv("TILEWRIGHT_NVRTC");
    findings.push_back({"NVRTC", named != nullptr && *named != '\0' ? State::broken : State::absent, error.what(), "only kernels that call CUDA C++ need it"});
  }
}

void look_at_cache(Findings& findings) {
  cache::DiskCache& disk = cache::process_cache();
  if (!disk.enabled()) {
    findings.push_back({"cache", State::absent, "switched off (" + disk.settings().origin + ")", "every process compiles its kernels; set TILEWRIGHT_CACHE_DIR to a folder"});
    return;
  }
  std::uint64_t bytes = 0;
  const auto entries = disk.entries();
  for (const cache::EntryStatus& entry : entries) bytes += entry.bytes;
  const std::string words = fmt::format("{} ({}), {} entries, {} of at most {}", disk.settings().folder.string(), disk.settings().origin, entries.size(), bytes_text(bytes),
                                        bytes_text(disk.settings().most_bytes));
  const std::string failure = disk.try_out();
  if (failure.empty()) findings.push_back({"cache", State::ok, words, ""});
  else findings.push_back({"cache", State::broken, words + ": " + failure, "set TILEWRIGHT_CACHE_DIR to a folder that can be written, or to 'off'"});
}

/// What each card's calls are planned by; a file that is named counts without a card, too.
void look_at_planner_costs(Findings& findings) {
  const char* named = std::getenv(ops::kGdnCostsVariable);
  std::map<int, ops::Card> cards = hoppers();
  if (cards.empty() && named != nullptr && *named != '\0') cards[0] = {};
  for (const auto& [ordinal, card] : cards) {
    const std::string name = cards.size() == 1 ? "planner costs" : fmt::format("planner costs {}", ordinal);
    std::string failure;
    try {
      const std::string origin = ops::load_gdn_costs(named, cache::process_cache().settings(), card, [&](const std::string& warning) { failure = warning; }).origin;
      if (failure.empty()) findings.push_back({name, State::ok, origin, ""});
    } catch (const Error& error) {
      failure = error.what();
    }
    if (!failure.empty()) findings.push_back({name, State::broken, failure, "run `tilewright tune-planner`, remove the file, or set " + std::string(ops::kGdnCostsVariable) + " to 'off'"});
  }
}

void look_at_temporary_folder(Findings& findings) {
  try {
    const assemble::TemporaryFolder folder;
    assemble::write_file(folder.path() / "try", "try");
    findings.push_back({"temporary folder", State::ok, folder.path().parent_path().string(), ""});
  } catch (const Error& error) {
    findings.push_back({"temporary folder", State::broken, error.what(), "ptxas works there: set TMPDIR to a folder that can be written"});
  }
}

}  // namespace

std::map<int, ops::Card> hoppers() {
  std::map<int, ops::Card> cards;
  try {
    for (const Listed& card : listed_cards(cuda::driver()))
      if (card.major == 9 && card.minor == 0) cards[card.ordinal] = {card.name, card.multiprocessors};
  } catch (const Error&) {
    // Without a driver there are none; `doctor` says why.
  }
  return cards;
}

int doctor(const Options& o, std::ostream& out) {
  Findings findings{{"tilewright", State::ok, "build " + compiler::identity(), ""}};
  const bool hopper = look_at_cards(findings);
  look_at_assemblers(findings);
  look_at_nvrtc(findings);
  look_at_cache(findings);
  look_at_planner_costs(findings);
  look_at_temporary_folder(findings);
  bool healthy = hopper || !o.card;
  nlohmann::ordered_json json = nlohmann::ordered_json::array();
  for (const Finding& f : findings) {
    healthy = healthy && f.state != State::broken;
    json.push_back({{"name", f.name}, {"state", f.state == State::broken ? "broken" : kStates[static_cast<std::size_t>(f.state)]}, {"what", f.what}, {"mend", f.mend}});
    if (o.json) continue;
    out << fmt::format("{:<17} {:<7} {}\n", f.name, kStates[static_cast<std::size_t>(f.state)], f.what);
    if (!f.mend.empty()) out << fmt::format("{:<25} -> {}\n", "", f.mend);
  }
  if (o.json) out << nlohmann::ordered_json{{"healthy", healthy}, {"hopper", hopper}, {"findings", json}}.dump(2) << "\n";
  else
    out << (!healthy ? (hopper || !o.card ? "something is broken\n" : "no Hopper to run on\n") : hopper ? "ready for the card\n" : "ready for the simulated device\n");
  return healthy ? 0 : 1;
}

}  // namespace tilewright::cli
