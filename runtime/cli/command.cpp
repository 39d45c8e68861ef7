// The command line: options, help and exit status.
#include "runtime/cli/command.h"

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include <charconv>
#include <functional>
#include <iostream>
#include <map>

#include "kernels/gdn/config.h"
#include "kernels/gdn/planner_rules.h"

namespace tilewright::cli {
namespace {

void add_kernel(CLI::App& app, Options& o) {
  app.add_option("kernel", o.kernel, "kernel or operator, as in `tilewright list`")->required();
}

void add_configuration(CLI::App& app, Options& o) {
  app.add_option("--heads", o.heads, "key heads x value heads of gdn-forward")->capture_default_str();
  const std::vector<int> widths(std::begin(gdn::kHeadWidths), std::end(gdn::kHeadWidths));
  app.add_option("--dk", o.dk, "width of a query or key head of gdn-forward")->check(CLI::IsMember(widths))->capture_default_str();
  app.add_option("--dv", o.dv, "width of a value head of gdn-forward")->check(CLI::IsMember(widths))->capture_default_str();
  app.add_option("--dtype", o.dtype, "type of q, k, v and o")->check(CLI::IsMember({"bf16", "f16", "fp16"}))->capture_default_str();
  app.add_option("--form", o.form, "chain kernel: full (all columns of V in a CTA), split (64 of 128), auto (by the number of chains)")
      ->check(CLI::IsMember({"auto", "full", "split"}))
      ->capture_default_str();
  app.add_flag("--state-v-first", o.state_v_first, "states are [N, Hv, dv, dk] instead of [N, Hv, dk, dv]");
  app.add_option("--cp", o.cp, "segments of a chain of gdn-forward: auto, off, or so many in each")->capture_default_str();
  app.add_option("--ptxas", o.ptxas, "this ptxas instead of the one that is found")->check(CLI::ExistingFile);
}

void add_in_place(CLI::App& app, Options& o) { app.add_flag("--in-place", o.in_place, "gdn-forward: final states take the place of the initial ones"); }

void add_device(CLI::App& app, Options& o) {
  app.add_option("--device", o.device, "auto: a Hopper where there is one, else the simulated one")
      ->check(CLI::IsMember({"auto", "cuda", "sim"}))
      ->capture_default_str();
}

void add_run(CLI::App& app, Options& o) {
  add_device(app, o);
  app.add_option("--lens", o.lens, "lengths of the sequences: 700+64+260, or 8192x4 for four of 8192")->expected(1);
  app.add_option("--kind", o.kind, "family of inputs")
      ->check(CLI::IsMember({"ordinary", "few_keys", "same_keys", "no_decay", "strong_decay"}))
      ->capture_default_str();
  app.add_option("--shape", o.shapes, "sizes of kernels other than gdn-forward: MxNxK of a gemm")->expected(1);
  app.add_option("--seed", o.seed, "of the inputs")->check(CLI::NonNegativeNumber)->capture_default_str();
  app.add_option("--batch", o.batch, "this many sequences of one length as a batch, without offsets")
      ->check(CLI::Range(std::int64_t{1}, std::int64_t{1} << 20))
      ->capture_default_str();
  app.add_option("--offsets", o.offsets, "type of cu_seqlens")->check(CLI::IsMember({"int32", "int64"}))->capture_default_str();
  app.add_option("--margin", o.margin, "rows of NaN before the first and after the last sequence")->check(CLI::Range(0, 1 << 20));
  app.add_flag("--no-initial-state", o.no_initial_state, "start from zero; the bars of --check are stated for inputs with an initial state");
  add_in_place(app, o);
  app.add_flag("--check", o.check, "compare with fp64 on the host; exit status 1 when a bar is missed");
  app.add_flag("--twice", o.twice, "run twice and compare the bits");
  app.add_flag("--json", o.json, "result as JSON");
  app.add_option("--schedule", o.schedule, "seed of what the simulated device leaves open: order of warps, when copies complete (0: in turn)")
      ->check(CLI::NonNegativeNumber);
  app.add_option("--schedules", o.schedules, "run so many schedules, from --schedule (or 1) on")->check(CLI::Range(1, 1 << 20));
  app.add_flag("--no-checks", o.no_checks, "simulate without looking for races, missing fences and unwritten memory");
}

void add_plan(CLI::App& app, Options& o) {
  add_kernel(app, o);
  add_configuration(app, o);
  app.add_option("--lens", o.lens, "lengths of the sequences: 28672+4096, or 8192x4 for four of 8192")->expected(1);
  app.add_option("--decay", o.decay, "mean decay of a token, for each head in turn")->capture_default_str();
  app.add_option("--sms", o.sms, "multiprocessors")->check(CLI::Range(2, gdn::kMaxPlannedSms))->capture_default_str();
  app.add_flag("--items", o.every_item, "print every item of the list");
  app.add_option("--svg", o.svg, "draw to this file, too");
}

void add_mutate(CLI::App& app, Options& o) {
  app.add_option("kernel", o.kernel, "kernel or operator, as in `tilewright list`, or all")->required();
  app.add_option("--only", o.mutate.kinds, "kinds of mutations: release.delete, or parity for all that begin so")->allow_extra_args(false);
  app.add_option("--sample", o.mutate.sample, "so many of the mutants, chosen by --seed; default all");
  app.add_option("--seed", o.seed, "of the sample")->capture_default_str();
  app.add_option("--schedules", o.mutate.schedules, "each mutant runs at most under so many")->check(CLI::Range(1, 10'000))->capture_default_str();
  app.add_option("--equivalent", o.mutate.equivalent, "table of mutants that change nothing, with reasons")->check(CLI::ExistingFile);
  app.add_option("--expect", o.mutate.expect, "least percentage that must be found of the mutants that are not equivalent")->check(CLI::Range(0.0, 100.0))->capture_default_str();
  app.add_option("--jobs", o.mutate.jobs, "mutants at a time; default the number of cores")->check(CLI::Range(1, 1024));
  app.add_option("--json", o.out, "write every mutant with its end to this file");
  app.footer("Exit status 1: too few are found, an unspoilt kernel raises an alarm, or the table of equivalent mutants is wrong.");
}

void add_cache(CLI::App& app, Options& o) {
  app.require_subcommand(1);
  const auto add = [&](const char* name, const char* help) {
    auto* action = app.add_subcommand(name, help);
    action->callback([&o, name] { o.action = name; });
    return action;
  };
  add("list", "the kernels, the last used first: time to make, resources, uses")->add_flag("--json", o.json, "as JSON");
  add("clear", "remove every entry");
  add("verify", "read every entry; damaged ones are named and removed, exit status 1 when there is one");
  auto* diff = add("diff", "two kernels: configuration, times, resources, PTX instructions");
  diff->add_option("A", o.first, "the beginning of an entry's name, or a configuration, as `list` shows them")->required();
  diff->add_option("B", o.second, "the other")->required();
  diff->add_flag("--json", o.json, "as JSON");
}

std::int64_t integer(std::string_view text) {
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() && end == text.data() + text.size() ? value : 0;
}

}  // namespace

gdn::HeadCounts heads_of(const Options& o) {
  return usage([&] { return gdn::parse_heads(o.heads); });
}

std::string widths_of(const Options& o) {
  const Options defaults;
  if (o.dk == defaults.dk && o.dv == defaults.dv) return "";
  return " --dk " + std::to_string(o.dk) + " --dv " + std::to_string(o.dv);
}

std::optional<gdn::Form> form_of(const Options& o) {
  if (o.form == "split" && !gdn::can_split(o.dv))
    throw UsageError("--form split with --dv " + std::to_string(o.dv) + ": a head of one warpgroup's columns is not split, expected full or auto");
  if (o.form == "auto") return std::nullopt;
  return o.form == "full" ? gdn::Form::full : gdn::Form::split;
}

int cp_of(const Options& o) {
  if (o.cp == "auto") return 0;
  if (o.cp == "off") return 1;
  int n = 0;
  const auto [last, error] = std::from_chars(o.cp.data(), o.cp.data() + o.cp.size(), n);
  if (error != std::errc() || last != o.cp.data() + o.cp.size() || n < 1 || n > gdn::kMaxSegments)
    throw UsageError(fmt::format("--cp '{}': expected auto, off or a number of segments from 1 to {}", o.cp, gdn::kMaxSegments));
  return n;
}

gdn::StateOrder state_order_of(const Options& o) { return o.state_v_first ? gdn::StateOrder::v_first : gdn::StateOrder::k_first; }

ops::BuildOptions build_options_of(const Options& o) {
  ops::BuildOptions options;
  options.ptxas = o.ptxas;
  options.trace = o.stamped;
  options.enforce_contract = !o.stamped;  // stamps take registers
  return options;
}

std::vector<std::int64_t> parse_shape(const std::string& text, std::size_t count) {
  std::vector<std::int64_t> sizes;
  for (std::string_view rest = text;;) {
    const std::size_t times = rest.find('x');
    sizes.push_back(integer(rest.substr(0, times)));
    if (times == rest.npos) break;
    rest.remove_prefix(times + 1);
  }
  bool good = sizes.size() == count;
  for (const std::int64_t size : sizes) good = good && size > 0;
  if (!good) throw UsageError("shape '" + text + "': expected " + std::to_string(count) + " positive sizes joined by x");
  return sizes;
}

int command(int argc, const char* const* argv, std::ostream& out, std::ostream& err) {
  Options o;
  CLI::App app("Tilewright: warp-specialised kernels for NVIDIA Hopper, from C++ to SASS, on the card or on a simulated one.", "tilewright");
  app.require_subcommand(1);
  app.set_version_flag("--version", "tilewright " TILEWRIGHT_VERSION);
  app.fallthrough(false);
  std::map<const CLI::App*, std::function<int(const Options&, std::ostream&)>> actions;

  auto* list_app = app.add_subcommand("list", "the kernels and operators that the other subcommands know");
  list_app->add_flag("--json", o.json, "as JSON");
  actions[list_app] = list;

  auto* compile_app = app.add_subcommand("compile", "compile a kernel; write every stage, the cubin and the resource report");
  add_kernel(*compile_app, o);
  add_configuration(*compile_app, o);
  compile_app->add_option("-o,--out", o.out, "folder to write to")->required();
  compile_app->add_flag("--all", o.every_pass, "write the kernel after every pass, too, numbered in their order");
  compile_app->add_flag("--timing", o.timing, "print the milliseconds of every pass");
  actions[compile_app] = compile;

  auto* inspect_app = app.add_subcommand("inspect", "print a summary or one stage of a kernel, or write all of them");
  add_kernel(*inspect_app, o);
  add_configuration(*inspect_app, o);
  auto* stage = inspect_app->add_option("--stage", o.stage, "what to print. plan: roles, barriers, shared memory; layout: where a tile has its elements; passes: what each pass took; conflicts: bank conflicts of a run on the simulator")
                    ->check(CLI::IsMember({"plan", "tile", "hopper", "llvm", "ptx", "sass", "resources", "sidecar", "layout", "passes", "conflicts"}));
  inspect_app->add_option("--all", o.all, "write every stage, and the kernel after every pass, to this folder")->excludes(stage);
  inspect_app->add_option("--tensor", o.tensor, "with --stage layout: a shared tile or a fragment that has a name");
  inspect_app->add_option("--svg", o.svg, "with --stage layout: draw to this file, too");
  inspect_app->add_option("--only", o.only, "only the kernel of this name (an operator has several)");
  inspect_app->add_flag("--json", o.json, "resources, passes or conflicts as JSON");
  actions[inspect_app] = inspect;

  auto* run_app = app.add_subcommand("run", "run a kernel on generated inputs");
  add_kernel(*run_app, o);
  add_configuration(*run_app, o);
  add_run(*run_app, o);
  run_app->add_flag("--count", o.count, "on the simulator: instructions by class and role, bytes by kind");
  run_app->add_option("--shadow", o.shadow, "on the simulator: every float operation in this precision, too, and where accuracy is lost")->check(CLI::IsMember({"fp64"}));
  actions[run_app] = run;

  auto* trace_app = app.add_subcommand("trace", "run a kernel on generated inputs and draw what the roles of one CTA did when");
  add_kernel(*trace_app, o);
  add_configuration(*trace_app, o);
  add_run(*trace_app, o);
  trace_app->add_option("--cta", o.cta, "number of the CTA in its grid, x + grid.x (y + grid.y z)")->capture_default_str();
  trace_app->add_option("-o,--out", o.out, "trace for ui.perfetto.dev (default trace.json)");
  trace_app->add_option("--svg", o.svg, "draw to this file, too");
  actions[trace_app] = trace;

  auto* plan_app = app.add_subcommand("plan", "how chains would be cut into segments, and which SM would do what when");
  add_plan(*plan_app, o);
  actions[plan_app] = plan;

  auto* bench_app = app.add_subcommand("bench", "time a kernel on the card: medians, L2 flushed before each run");
  add_kernel(*bench_app, o);
  add_configuration(*bench_app, o);
  add_device(*bench_app, o);
  bench_app->add_option("--lens", o.lens, "lengths of the sequences, one row each: 8192x4 4096x8");
  bench_app->add_option("--shape", o.shapes, "sizes of a gemm, one row each: 8192x8192x8192");
  add_in_place(*bench_app, o);
  bench_app->add_flag("--ceilings", o.ceilings, "gdn-forward: only the least times that an H200's tensor cores and memory allow; needs no card");
  bench_app->add_flag("--json", o.json, "rows as JSON");
  actions[bench_app] = bench;

  auto* tune_app = app.add_subcommand("tune-planner", "measure on the card what steps of gdn-forward take, and write it for the planner of segments (half a minute)");
  tune_app->add_option("-o,--output", o.out, "file to write, for TILEWRIGHT_PLANNER_COSTS; default: the card's place in the cache folder, where every later process finds it");
  tune_app->add_option("--rounds", o.rounds, "measure everything so many times; the medians count")->check(CLI::Range(1, 100))->capture_default_str();
  tune_app->add_option("--ptxas", o.ptxas, "this ptxas instead of the one that is found")->check(CLI::ExistingFile);
  tune_app->add_flag("--json", o.json, "measured and shipped costs as JSON");
  tune_app->footer("Nothing else may run on the card. Exit status 1, and no file, where the times make no sense.");
  actions[tune_app] = tune_planner;

  auto* mutate_app = app.add_subcommand("mutate", "spoil a kernel's synchronisation in every way, and say who finds it: verifier, simulator or nobody");
  add_mutate(*mutate_app, o);
  actions[mutate_app] = mutate;

  auto* cache_app = app.add_subcommand("cache", "the compiled kernels on disk");
  add_cache(*cache_app, o);
  actions[cache_app] = cache_command;

  auto* doctor_app = app.add_subcommand("doctor", "driver, card, ptxas, nvdisasm, NVRTC, cache, planner costs: what is there, what is missing and how to get it");
  doctor_app->footer("Exit status 0: nothing is broken (what is absent is named). 1: something is there and cannot be used, or --card and no Hopper.");
  doctor_app->add_flag("--card", o.card, "exit status 1 without a Hopper to run on");
  doctor_app->add_flag("--json", o.json, "as JSON");
  actions[doctor_app] = doctor;

  const auto named = [&](const CLI::App* subcommand) { return subcommand->get_name() == argv[1]; };
  if (argc > 1 && argv[1][0] != '-' && app.get_subcommands(named).empty()) {
    err << "tilewright: no subcommand '" << argv[1] << "'; expected list, compile, inspect, run, trace, plan, bench, tune-planner, mutate, cache or doctor\n";
    return 2;
  }
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error, out, err) == 0 ? 0 : 2;
  }
  try {
    const int status = actions.at(app.get_subcommands().front())(o, out);
    if (!out.flush()) throw Error("the result could not be written to the standard output");
    return status;
  } catch (const UsageError& error) {
    err << "tilewright: " << error.what() << "\n";
    return 2;
  } catch (const Error& error) {
    err << "tilewright: " << error.what() << "\n";
    return 1;
  } catch (const std::exception& error) {
    err << "tilewright: internal error, please report it: " << error.what() << "\n";
    return 1;
  }
}

}  // namespace tilewright::cli
