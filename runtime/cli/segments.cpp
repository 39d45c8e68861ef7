// tilewright plan
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <fstream>
#include <ostream>

#include "kernels/gdn/plan.h"
#include "kernels/gdn/planner_reference.h"
#include "runtime/cache/disk_cache.h"
#include "runtime/cli/command.h"
#include "runtime/cli/segment_picture.h"

namespace tilewright::cli {
namespace {

constexpr int kChunkTokens = 64;

/// Chunks after which nothing is left of the states of `heads` heads, whose tokens decay by "0.95+1" in turn.
std::vector<std::int32_t> erase_of(const std::string& text, int heads) {
  std::vector<std::int32_t> given;
  for (std::string_view rest = text;;) {
    const std::string_view one = rest.substr(0, rest.find('+'));
    double decay = -1;
    const auto [last, error] = std::from_chars(one.data(), one.data() + one.size(), decay);
    if (error != std::errc() || last != one.data() + one.size() || !(decay > 0 && decay <= 1))
      throw UsageError(fmt::format("plan: --decay '{}': expected the decay of a token for each head in turn, above 0 and at most 1, joined by +: 0.95+0.95+1", text));
    const double bits = -std::log2(decay) * 64;
    given.push_back(bits * gdn::kNeverErased > gdn::kErasedBits ? std::max(static_cast<std::int32_t>(std::ceil(gdn::kErasedBits / bits)), 1) : gdn::kNeverErased);
    if (one.size() == rest.size()) break;
    rest.remove_prefix(one.size() + 1);
  }
  std::vector<std::int32_t> erase;
  for (int h = 0; h < heads; ++h) erase.push_back(given[std::size_t(h) % given.size()]);
  return erase;
}

/// What calls on this machine's card are planned by, or on one that has not been measured.
ops::GdnCosts costs_here(int sms) {
  const std::map<int, ops::Card> cards = hoppers();
  const cache::Settings& settings = cache::process_cache().settings();
  std::string warning;
  ops::GdnCosts found = ops::load_gdn_costs(std::getenv(ops::kGdnCostsVariable), settings, cards.empty() ? ops::Card{} : cards.begin()->second,
                                            [&](const std::string& text) { warning = text; });
  if (!warning.empty()) found.origin += " (" + warning + ")";
  found.costs.sms = sms;
  return found;
}

}  // namespace

int plan(const Options& o, std::ostream& out) {
  if (o.kernel != "gdn-forward") throw UsageError("plan: '" + o.kernel + "' has no plan of segments; expected gdn-forward");
  const gdn::HeadCounts heads = heads_of(o);
  const std::string lens = o.lens.empty() ? "32768" : o.lens.front();
  gdn::PlanRequest r;
  std::int64_t tokens = 0;
  for (const std::int64_t n : usage([&] { return gdn::parse_lens(lens); })) r.chunks.push_back(static_cast<std::int32_t>((n + kChunkTokens - 1) / kChunkTokens)), tokens += n;
  const ops::GdnCosts here = costs_here(o.sms);
  const gdn::Choice choice =
      gdn::choose({.tokens = tokens, .sequences = static_cast<std::int64_t>(r.chunks.size()), .heads = heads.hv, .packed = true, .cp = cp_of(o)}, here.costs);
  const gdn::Form form = form_of(o).value_or(choice.form);
  const int splits = form == gdn::Form::split ? 2 : 1;
  const gdn::CostModel& costs = gdn::costs_of(here.costs, form);
  r.erase = erase_of(o.decay, heads.hv);
  r.costs = gdn::planner_costs(costs, tokens, static_cast<std::int64_t>(r.chunks.size()), heads.hv);
  r.slots = o.sms / splits, r.cp = choice.segments ? cp_of(o) : 1;
  r.item_capacity = r.cp == 0 ? gdn::item_capacity(r.slots, static_cast<std::int64_t>(r.chunks.size()) * heads.hv) : gdn::item_capacity(o.sms), r.record_capacity = gdn::record_capacity(o.sms);
  const gdn::SegmentPlan plan = gdn::reference_plan(r);
  const gdn::Timeline course = gdn::simulate(plan, r.chunks, r.erase, costs, o.sms, splits), uncut = gdn::simulate({}, r.chunks, r.erase, costs, o.sms, splits);
  double work = 0;
  for (const gdn::Span& s : uncut.spans) work += s.end - s.ready;

  const std::string title = fmt::format("gdn-forward --heads {} --lens {} --cp {}, {} form, {} SMs: {:.1f} us", o.heads, lens, o.cp, gdn::name_of(form), o.sms, course.makespan);
  out << title << "\n";
  out << fmt::format("  costs: full step {:.4g}, state step {:.4g}, start {:.4g}, hop {:.4g} us; {}\n", costs.full_step, costs.state_step, costs.start, costs.hop, here.origin);
  out << fmt::format("  whole chains {:.1f} us; their work spread evenly {:.1f} us\n", uncut.makespan, work / o.sms);
  if (plan.items.empty()) out << "  no chain is cut\n";
  else {
    const auto count = [&](gdn::SegmentKind kind) { return std::count_if(plan.items.begin(), plan.items.end(), [&](const auto& i) { return i.kind == kind; }); };
    out << fmt::format("  {} items: {} final, {} end, {} transition; {} records; ", plan.items.size(), count(gdn::SegmentKind::final), count(gdn::SegmentKind::end),
                       count(gdn::SegmentKind::transition), plan.records);
    out << (plan.longest_whole > 0 ? fmt::format("sequences of at most {} chunks follow whole\n", plan.longest_whole) : "no chain follows whole\n");
  }
  out << segment_text(course, o.sms);
  if (o.every_item) out << segment_table(plan);
  if (!o.svg.empty()) {
    std::ofstream file(o.svg);
    if (!(file << segment_svg(course, o.sms, title)).flush()) throw Error("plan: '" + o.svg + "' could not be written");
  }
  return 0;
}

}  // namespace tilewright::cli
