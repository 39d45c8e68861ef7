// agreement [--json FILE] [--on DEVICE] [--only TEXT]
//
// Runs every shipped kernel, and single instructions on many inputs, on the simulated Hopper and on the card, with the same PTX and the same inputs, and prints how far the
// results are apart beside how far they may be. Exit status 1 where a case is beyond its bound, 77 where there is no card.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <fstream>
#include <iostream>

#include "tests/card/agreement/cases.h"

using namespace tilewright;

int main(int argc, char** argv) {
  std::string json_path, device = "cuda", only;
  CLI::App app("agreement of the simulated Hopper with the card");
  app.add_option("--json", json_path, "results as JSON to this file");
  app.add_option("--on", device, "the device beside the simulated one; sim compares it with itself")->check(CLI::IsMember({"cuda", "sim"}));
  app.add_option("--only", only, "only cases with this in their names");
  CLI11_PARSE(app, argc, argv);
  std::string description;
  try {
    description = runtime::make_device(device)->description();
  } catch (const Error& error) {
    std::cout << "agreement: skipped, there is no card: " << error.what() << "\n";
    return 77;
  }
  std::cout << "simulator against " << description << "\n"
            << fmt::format("{:<32} {:<12} {:>9} {:>9} {:>10} {:>10} {:>8}  {}\n", "case", "output", "elements", "differ", "largest", "rms", "of bound", "bound");
  bool all_agree = true;
  std::size_t count = 0;
  nlohmann::ordered_json cases = nlohmann::ordered_json::array();
  for (const test::Case& c : test::agreement_cases()) {
    if (c.name.find(only) == std::string::npos) continue;
    ++count;
    const test::Agreement a = test::agree(c, "sim", device);
    all_agree = all_agree && a.agree();
    nlohmann::ordered_json outputs = nlohmann::ordered_json::array();
    if (!a.problem.empty()) std::cout << fmt::format("{:<32} FAIL: {}\n", a.name, a.problem);
    for (const test::Difference& d : a.outputs) {
      std::cout << fmt::format("{:<32} {:<12} {:>9} {:>9} {:>10.2e} {:>10.2e} {:>7.1f}%  {}{}\n", a.name, d.output, d.elements, d.different, d.largest, d.rms,
                               100 * d.used, d.bound, d.agree ? "" : "  FAIL");
      outputs.push_back({{"output", d.output}, {"elements", d.elements}, {"different", d.different}, {"largest", d.largest}, {"rms", d.rms},
                         {"part_of_bound", d.used}, {"bound", d.bound}, {"agree", d.agree}});
    }
    cases.push_back({{"case", a.name}, {"agree", a.agree()}, {"problem", a.problem}, {"outputs", outputs}});
  }
  if (!json_path.empty()) {
    std::ofstream file(json_path);
    file << nlohmann::ordered_json{{"device", description}, {"agree", all_agree}, {"cases", cases}}.dump(2) << "\n";
    file.close();
    if (!file) {
      std::cerr << "agreement: cannot write " << json_path << "\n";
      return 1;
    }
  }
  std::cout << fmt::format("agreement: {} cases, {}\n", count, all_agree && count ? "all agree" : "FAIL");
  return all_agree && count ? 0 : 1;
}
