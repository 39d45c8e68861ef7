// machine_bench [NAME...] [--device cuda|sim] [--small] [--seed N] [--out FILE]
//
// Measures what plans for kernels rest on: ragged TMA, programmatic dependent launch, errors of the tensor cores, agreement of
// the simulated Hopper with the card, time to compile, tensors of more than 2^31 elements. Without names: all of them.
// Writes one JSON object to standard output, and to FILE; exit status 1 when a check fails.
#include <chrono>
#include <cstdlib>
#include <fstream>
#include <iostream>

#include "benchmarks/machine/bench.h"

namespace tilewright::machine {
namespace {

constexpr Measurement kAll[] = {{"ragged_copies", ragged_copies},       {"dependent_launches", dependent_launches},
                                {"tensor_core_error", tensor_core_error}, {"scalar_agreement", scalar_agreement},
                                {"cold_compile", cold_compile},           {"large_tensors", large_tensors}};

std::string path_of_this_program() {
  return "/proc/self/exe";  // resolved by the process that starts it
}

int run(const std::vector<std::string>& arguments) {
  std::string device = "cuda", out;
  std::vector<std::string> names;
  bool small = false;
  std::uint64_t seed = std::uint64_t(std::chrono::system_clock::now().time_since_epoch().count());
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const std::string& a = arguments[i];
    auto value = [&] {
      if (++i == arguments.size()) throw Error(a + " without a value");
      return arguments[i];
    };
    if (a == "--device") device = value();
    else if (a == "--out") out = value();
    else if (a == "--seed") seed = std::strtoull(value().c_str(), nullptr, 10);
    else if (a == "--small") small = true;
    else names.push_back(a);
  }
  if (names.size() == 2 && names[0] == "cold-child") return cold_child(names[1], device);
  for (const std::string& name : names)
    if (std::none_of(std::begin(kAll), std::end(kAll), [&](const Measurement& m) { return name == m.name; })) {
      std::string expected;
      for (const Measurement& m : kAll) expected += std::string(" ") + m.name;
      throw Error("no measurement '" + name + "', expected one of:" + expected);
    }

  const auto target = runtime::make_device(device), simulator = runtime::make_simulated_device();
  Setup setup{*target, *simulator, ops::LoadedPrograms(*target), ops::LoadedPrograms(*simulator), target->kind() == "cuda", small, seed, path_of_this_program()};
  Json report{{"device", target->description()}, {"seed", seed}, {"small", small}};
  bool passed = true;
  for (const Measurement& m : kAll) {
    if (!names.empty() && std::find(names.begin(), names.end(), m.name) == names.end()) continue;
    const auto begin = std::chrono::steady_clock::now();
    Json result;
    try {
      result = m.run(setup);
    } catch (const std::exception& error) {
      result = {{"pass", false}, {"error", error.what()}};
    }
    result["seconds"] = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    passed = passed && result.at("pass").get<bool>();
    std::cerr << m.name << ": " << (result["pass"].get<bool>() ? "pass" : "FAIL") << ", " << result["seconds"] << " s\n";
    report[m.name] = std::move(result);
    if (!out.empty()) std::ofstream(out) << report.dump(1) << "\n";  // what there is so far
  }
  report["pass"] = passed;
  if (!out.empty()) std::ofstream(out) << report.dump(1) << "\n";
  std::cout << report.dump(1) << "\n";
  return passed ? 0 : 1;
}

}  // namespace
}  // namespace tilewright::machine

int main(int argc, char** argv) {
  try {
    return tilewright::machine::run({argv + 1, argv + argc});
  } catch (const std::exception& error) {
    std::cerr << "machine_bench: " << error.what() << "\n";
    return 2;
  }
}
