// tilewright mutate
#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <fstream>
#include <map>
#include <mutex>
#include <nlohmann/json.hpp>
#include <ostream>
#include <random>
#include <thread>

#include "runtime/cli/equivalents.h"
#include "runtime/cli/mutation_run.h"

namespace tilewright::cli {
namespace {

struct Mutant {
  const MutatedKernel* kernel = nullptr;
  compiler::Mutation mutation;
  std::string reason;  ///< why it is equivalent; empty: it is to be found
  Verdict verdict;
};

/// "release.delete" lies in "release" and in "release.delete".
bool in_kind(const std::string& kind, const std::string& of) { return kind == of || kind.starts_with(of + "."); }

/// Those of a kernel by name, or of all that have a name.
std::vector<MutationCase> cases_of(const std::string& name) {
  if (name != "all") return mutation_cases(find(name));
  std::vector<MutationCase> all;
  for (const Entry& entry : registry())
    for (MutationCase& one : mutation_cases(entry)) all.push_back(std::move(one));
  return all;
}

std::vector<MutatedKernel> kernels_of(const std::vector<MutationCase>& cases) {
  std::vector<MutatedKernel> kernels;
  for (const MutationCase& one : cases)
    for (const ops::Source& source : one.kernels) {
      const auto known = std::find_if(kernels.begin(), kernels.end(), [&](const MutatedKernel& k) { return k.source.key == source.key; });
      if (known == kernels.end()) kernels.push_back({source, {&one}});
      else known->cases.push_back(&one);
    }
  return kernels;
}

/// All mutants, with the reasons of those that the table calls equivalent. Throws Error for entries of these kernels that name no mutant,
/// except for a sample.
std::vector<Mutant> mutants_of(const std::vector<MutatedKernel>& kernels, const std::vector<Equivalent>& table, bool sample) {
  std::vector<Mutant> all;
  std::string stale;
  for (const MutatedKernel& kernel : kernels) {
    std::vector<bool> used(table.size());
    for (compiler::Mutation& m : compiler::mutations(kernel.source.make())) {
      Mutant mutant{&kernel, m, "", {}};
      for (std::size_t i = 0; i < table.size(); ++i)
        if (table[i].is(kernel.source.key, m)) mutant.reason = table[i].reason, used[i] = true;
      all.push_back(std::move(mutant));
    }
    for (std::size_t i = 0; i < table.size(); ++i)
      if (table[i].kernel == kernel.source.key && !used[i])
        stale += fmt::format("\n  {} | {} | {} | {}", table[i].kernel, table[i].kind, table[i].ordinal, table[i].what);
  }
  if (!stale.empty() && !sample) throw Error("the table of equivalent mutants has entries that name no mutant:" + stale);
  return all;
}

/// Keeps the kinds that are asked for and, of those, a sample.
void choose(std::vector<Mutant>& mutants, const Options& o) {
  if (!o.mutate.kinds.empty())
    std::erase_if(mutants, [&](const Mutant& m) { return std::none_of(o.mutate.kinds.begin(), o.mutate.kinds.end(), [&](const auto& k) { return in_kind(m.mutation.kind, k); }); });
  if (mutants.empty()) throw UsageError("mutate: no mutant is of the kinds given with --only");
  if (o.mutate.sample == 0 || o.mutate.sample >= mutants.size()) return;
  std::mt19937_64 random(o.seed);
  for (std::size_t i = 0; i < o.mutate.sample; ++i) std::swap(mutants[i], mutants[i + random() % (mutants.size() - i)]);
  mutants.resize(o.mutate.sample);
}

/// Runs `work(i)` for i < count on so many threads, and `done(i)` in order as soon as all up to i have run.
template <class Work, class Done>
void in_parallel(std::size_t count, unsigned threads, const Work& work, const Done& done) {
  std::atomic<std::size_t> next{0};
  std::mutex mutex;
  std::vector<bool> ready(count);
  std::size_t told = 0;
  std::exception_ptr failure;
  const auto loop = [&] {
    for (std::size_t i; (i = next.fetch_add(1)) < count;) try {
        work(i);
        const std::lock_guard lock(mutex);
        for (ready[i] = true; told < count && ready[told]; ++told) done(told);
      } catch (...) {
        const std::lock_guard lock(mutex);
        failure = std::current_exception();
        next = count;
      }
  };
  {
    std::vector<std::jthread> others;
    for (unsigned n = 1; n < threads; ++n) others.emplace_back(loop);
    loop();
  }
  if (failure) std::rethrow_exception(failure);
}

/// How many of a kind came to which end.
struct Count {
  unsigned verifier = 0, simulator = 0, nobody = 0, equivalent = 0;
  unsigned found() const { return verifier + simulator; }
  unsigned all() const { return found() + nobody + equivalent; }
  double score() const { return found() + nobody == 0 ? 100.0 : 100.0 * found() / (found() + nobody); }
  void add(const Mutant& m) {
    const Finder f = m.verdict.finder;
    if (f == Finder::verifier) ++verifier;
    else if (f != Finder::nobody) ++simulator;
    else if (m.reason.empty()) ++nobody;
    else ++equivalent;
  }
};

std::string line_of(const Mutant& m) {
  const bool found = m.verdict.finder != Finder::nobody;
  return fmt::format("{:<10} {:<26} {:<18} {} | {} | {}\n", found || m.reason.empty() ? name_of(m.verdict.finder) : "equivalent", m.mutation.kind,
                     m.mutation.place, m.mutation.ordinal, m.kernel->source.key,
                     found ? m.verdict.report : m.reason.empty() ? m.mutation.what : m.reason);
}

nlohmann::ordered_json json_of(const Mutant& m) {
  return {{"kernel", m.kernel->source.key}, {"kind", m.mutation.kind}, {"place", m.mutation.place}, {"ordinal", m.mutation.ordinal}, {"what", m.mutation.what},
          {"found_by", std::string(name_of(m.verdict.finder))}, {"report", m.verdict.report}, {"on", m.verdict.on}, {"schedule", m.verdict.schedule},
          {"seconds", m.verdict.seconds}, {"equivalent", m.reason}};
}

}  // namespace

int mutate(const Options& o, std::ostream& out) {
  const std::vector<MutationCase> cases = cases_of(o.kernel);
  const std::vector<MutatedKernel> kernels = kernels_of(cases);
  std::vector<Mutant> mutants = mutants_of(kernels, o.mutate.equivalent.empty() ? std::vector<Equivalent>{} : read_equivalents(o.mutate.equivalent), o.mutate.sample != 0);
  const std::size_t offered = mutants.size();
  choose(mutants, o);
  const unsigned threads = o.mutate.jobs != 0 ? o.mutate.jobs : std::max(1u, std::thread::hardware_concurrency());
  bool good = true;

  std::vector<Verdict> unspoilt(kernels.size());
  in_parallel(kernels.size(), threads, [&](std::size_t i) { unspoilt[i] = try_mutant(kernels[i], {}, o.mutate.schedules); }, [](std::size_t) {});
  nlohmann::ordered_json alarms = nlohmann::ordered_json::array();
  for (std::size_t i = 0; i < kernels.size(); ++i) {
    if (unspoilt[i].finder == Finder::nobody) continue;
    good = false;
    out << fmt::format("FALSE ALARM of the {} on {}: {}\n", name_of(unspoilt[i].finder), kernels[i].source.key, unspoilt[i].report);
    alarms.push_back({{"kernel", kernels[i].source.key}, {"by", std::string(name_of(unspoilt[i].finder))}, {"report", unspoilt[i].report}});
  }

  std::map<std::string, Count> kinds;
  Count total;
  nlohmann::ordered_json rows = nlohmann::ordered_json::array();
  const auto work = [&](std::size_t i) { mutants[i].verdict = try_mutant(*mutants[i].kernel, mutants[i].mutation, o.mutate.schedules); };
  in_parallel(mutants.size(), threads, work, [&](std::size_t i) {
    const Mutant& m = mutants[i];
    out << line_of(m) << std::flush;
    if (m.verdict.finder != Finder::nobody && !m.reason.empty()) {
      good = false;
      out << "           ERROR: the table calls it equivalent (" << m.reason << ")\n";
    }
    kinds[m.mutation.kind].add(m);
    total.add(m);
    rows.push_back(json_of(m));
  });

  out << fmt::format("\n{:<28}{:>8}{:>10}{:>11}{:>8}{:>12}\n", "kind", "mutants", "verifier", "simulator", "nobody", "equivalent");
  const auto row = [&](const std::string& name, const Count& c) {
    out << fmt::format("{:<28}{:>8}{:>10}{:>11}{:>8}{:>12}\n", name, c.all(), c.verifier, c.simulator, c.nobody, c.equivalent);
  };
  for (const auto& [kind, count] : kinds) row(kind, count);
  row("all", total);
  good = good && total.score() >= o.mutate.expect;
  out << fmt::format("{}: {} of {} mutants tried under {} schedules; {:.1f} % of those that are not equivalent found (expected {:g} %), {}\n", o.kernel,
                     mutants.size(), offered, o.mutate.schedules, total.score(), o.mutate.expect, alarms.empty() ? "no false alarm" : "FALSE ALARMS");
  if (!o.out.empty()) {
    const nlohmann::ordered_json json{{"kernel", o.kernel}, {"schedules", o.mutate.schedules}, {"offered", offered}, {"score", total.score()}, {"false_alarms", alarms},
                                      {"mutants", rows}};
    std::ofstream file(o.out);
    if (!(file << json.dump(1) << "\n").flush()) throw Error("mutate: cannot write '" + o.out + "'");
  }
  return good ? 0 : 1;
}

}  // namespace tilewright::cli
