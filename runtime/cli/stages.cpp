#include "runtime/cli/stages.h"

#include <fmt/format.h>

#include <fstream>

namespace tilewright::cli {
namespace {

void write(const std::filesystem::path& path, const void* bytes, std::size_t count) {
  std::ofstream file(path, std::ios::binary);
  file.write(static_cast<const char*>(bytes), static_cast<std::streamsize>(count));
  file.close();
  if (!file) throw Error("cannot write " + path.string());
}

void write(const std::filesystem::path& path, const std::string& text) { write(path, text.data(), text.size()); }

void make_folder(const std::filesystem::path& folder) {
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (error) throw Error("cannot make the folder " + folder.string() + ": " + error.message());
}

/// Dynamic shared memory is known to the launch only; ptxas reports the static part.
unsigned shared_bytes(const ops::Built& built, const assemble::ResourceReport& report) {
  return report.shared_bytes + built.program.sidecar().dynamic_shared_bytes;
}

}  // namespace

nlohmann::ordered_json resources_json(const std::vector<ops::BuiltPointer>& kernels) {
  nlohmann::ordered_json list = nlohmann::ordered_json::array();
  for (const auto& built : kernels)
    for (const assemble::ResourceReport& r : built->assembled.kernels)
      list.push_back({{"name", r.name},
                      {"registers", r.registers},
                      {"spill_bytes", r.spill_store_bytes + r.spill_load_bytes},
                      {"stack_bytes", r.stack_bytes},
                      {"shared_bytes", shared_bytes(*built, r)},
                      {"barriers", r.barriers},
                      {"performance_loss", r.performance_loss},
                      {"ptxas", r.assembler}});
  return {{"kernels", list}};
}

std::string resources_table(const std::vector<ops::BuiltPointer>& kernels) {
  std::string text = fmt::format("{:<22} {:>9} {:>6} {:>6} {:>8} {:>8}  {}\n", "kernel", "registers", "spill", "stack", "shared", "barriers", "ptxas");
  for (const auto& built : kernels)
    for (const assemble::ResourceReport& r : built->assembled.kernels) {
      text += fmt::format("{:<22} {:>9} {:>6} {:>6} {:>8} {:>8}  {}\n", r.name, r.registers, r.spill_store_bytes + r.spill_load_bytes,
                          r.stack_bytes, shared_bytes(*built, r), r.barriers, r.assembler);
      for (const std::string& line : r.performance_loss) text += "    " + line + "\n";
    }
  return text;
}

std::string timing_table(const std::vector<ops::BuiltPointer>& kernels) {
  std::string text;
  const auto line = [&](int indent, const std::string& name, double ms) { text += fmt::format("{:{}}{:<{}} {:>9.2f}\n", "", indent, name, 34 - indent, ms); };
  for (const auto& built : kernels) {
    double sum = 0;
    text += fmt::format("{:<34} {:>9}\n", built->stages.name, "ms");
    for (const compiler::PassRecord& pass : built->stages.passes) line(4, pass.name, pass.milliseconds), sum += pass.milliseconds;
    line(2, "all passes", sum);
    for (const auto& [step, ms] : built->making.steps) line(2, "step: " + step, ms);
  }
  return text;
}

nlohmann::ordered_json timing_json(const std::vector<ops::BuiltPointer>& kernels) {
  nlohmann::ordered_json list = nlohmann::ordered_json::array();
  for (const auto& built : kernels) {
    nlohmann::ordered_json passes = nlohmann::ordered_json::array(), steps = nlohmann::ordered_json::array();
    for (const compiler::PassRecord& pass : built->stages.passes) passes.push_back({{"name", pass.name}, {"ms", pass.milliseconds}});
    for (const auto& [step, ms] : built->making.steps) steps.push_back({{"name", step}, {"ms", ms}});
    list.push_back({{"name", built->stages.name}, {"passes", passes}, {"steps", steps}});
  }
  return {{"kernels", list}};
}

std::vector<std::filesystem::path> write_passes(const std::vector<ops::BuiltPointer>& kernels, const std::filesystem::path& folder) {
  std::vector<std::filesystem::path> paths;
  for (const auto& built : kernels) {
    const std::filesystem::path own = folder / (built->stages.name + ".passes");
    make_folder(own);
    int number = 0;
    const auto put = [&](const std::string& name, const std::string& extension, const std::string& text) {
      paths.push_back(own / fmt::format("{:02}-{}.{}", number++, name, extension));
      write(paths.back(), text.ends_with('\n') ? text : text + "\n");
    };
    put("recorded", "mlir", built->stages.tile_ir);
    for (const compiler::PassRecord& pass : built->stages.passes)
      if (!pass.text.empty()) put(pass.name, pass.extension, pass.text);
  }
  return paths;
}

std::vector<std::filesystem::path> write_stages(const std::vector<ops::BuiltPointer>& kernels, const std::filesystem::path& folder) {
  make_folder(folder);
  std::vector<std::filesystem::path> paths;
  const auto put = [&](const std::string& name, const auto& text) {
    paths.push_back(folder / name);
    write(paths.back(), text);
  };
  for (const auto& built : kernels) {
    const compiler::Compiled& s = built->stages;
    put(s.name + ".tile.mlir", s.tile_ir);
    put(s.name + ".hopper.mlir", s.hopper_ir);
    put(s.name + ".ll", s.llvm_ir);
    put(s.name + ".ptx", s.ptx);
    put(s.name + ".json", s.sidecar);
    if (!built->assembled.cubin.empty()) put(s.name + ".cubin", std::string(built->assembled.cubin.begin(), built->assembled.cubin.end()));
  }
  put("resources.json", resources_json(kernels).dump(2) + "\n");
  return paths;
}

}  // namespace tilewright::cli
