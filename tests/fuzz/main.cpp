// fuzz: random programs of the language against what their tile IR means. docs/fuzzing.md has the use.
#include <fstream>
#include <iostream>
#include <map>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "tests/fuzz/emit.h"
#include "tests/fuzz/isolate.h"
#include "tests/fuzz/reduce.h"

using namespace tilewright;
using namespace tilewright::fuzz;

namespace {

std::string text_of(const fuzz::Program& p) {
  std::string text;
  try {
    emit(p, &text);
  } catch (const std::exception& e) {
    text += std::string("  // here: ") + e.what() + "\n";
  }
  return text;
}

fuzz::Program read_model(const std::string& file) {
  std::ifstream in(file);
  if (!in) throw Error("fuzz: cannot read " + file);
  auto json = nlohmann::json::parse(in);
  if (json.is_array()) json = json.at(0);  // the first of several findings
  return json.contains("program") ? json.at("program").get<fuzz::Program>() : json.get<fuzz::Program>();
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app("Compiles and runs random tile programs and compares them with a direct evaluation of their tile IR");
  std::uint64_t seed = 1;
  std::size_t count = 100;
  Limits limits;
  bool reduce_findings = false, print = false, coverage = false;
  int tries = 400;
  std::string json_file, model_file;
  app.add_option("--seed", seed, "of the first program; the next ones count up");
  app.add_option("--count", count, "programs");
  app.add_option("--jobs", limits.jobs, "processes")->check(CLI::PositiveNumber);
  app.add_option("--device", limits.device, "sim or cuda")->check(CLI::IsMember({"sim", "cuda"}));
  app.add_option("--seconds", limits.seconds, "of CPU time that a program may take");
  app.add_flag("--reduce", reduce_findings, "shrink each program with a finding");
  app.add_option("--tries", tries, "programs that the reduction of one may run");
  app.add_option("--json", json_file, "write the findings, with their programs, to this file");
  app.add_option("--program", model_file, "run the program in this file (a finding's, or tests/fuzz/seeds)");
  app.add_flag("--print", print, "print the programs' text");
  app.add_flag("--coverage", coverage, "count what the programs contain");
  CLI11_PARSE(app, argc, argv);
  try {
    const auto make = [&](std::size_t i) { return model_file.empty() ? generate(seed + i) : read_model(model_file); };
    if (!model_file.empty()) count = 1;
    std::map<std::string, std::size_t> kinds, features_seen;
    nlohmann::json findings = nlohmann::json::array();
    double milliseconds[3] = {0, 0, 0};
    std::size_t finished = 0;
    run_isolated(count, limits, make, [&](std::size_t i, const Outcome& o) {
      ++kinds[o.kind];
      ++finished;
      for (int k = 0; k < 3; ++k) milliseconds[k] += o.milliseconds[k];
      fuzz::Program p = make(i);
      if (coverage)
        for (const auto& f : features(p)) ++features_seen[f];
      if (print) std::cout << text_of(p);
      if (!o.finding()) return;
      std::cout << fmt::format("seed {}: {}: {}\n", p.seed, o.kind, o.message) << std::flush;
      Outcome last = o;
      if (reduce_findings) {
        p = reduce(p, [&](const fuzz::Program& q) {
          const Outcome again = run_isolated(q, limits);
          if (again.kind != o.kind) return false;
          last = again;
          return true;
        }, tries);
        std::cout << text_of(p) << "// " << last.kind << ": " << last.message << "\n" << std::flush;
      }
      findings.push_back({{"kind", last.kind}, {"message", last.message}, {"program", p}, {"text", text_of(p)}});
    });
    std::string summary;
    for (const auto& [kind, n] : kinds) summary += fmt::format(", {} {}", n, kind);
    std::cout << fmt::format("fuzz: {} programs from seed {} on{}; ms a program: compile {:.1f}, device {:.1f}, evaluation {:.1f}\n", finished, seed, summary, milliseconds[0] / finished,
                             milliseconds[1] / finished, milliseconds[2] / finished);
    for (const auto& [feature, n] : features_seen) std::cout << fmt::format("{:7} {}\n", n, feature);
    if (!json_file.empty()) std::ofstream(json_file) << findings.dump(1) << "\n";
    return findings.empty() ? 0 : 1;
  } catch (const std::exception& e) {
    std::cerr << "fuzz: " << e.what() << "\n";
    return 2;
  }
}
