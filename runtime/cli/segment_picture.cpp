#include "runtime/cli/segment_picture.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

namespace tilewright::cli {
namespace {

struct Look {
  char letter;
  const char* colour;
  const char* name;
};
enum Sort { from_state, from_zero, from_records, end, transition, waiting, sorts };
constexpr Look kLooks[sorts] = {{'S', "#8fb8de", "from the initial state"}, {'Z', "#9bc995", "from zero, behind a warm-up"}, {'R', "#f2a65a", "from records"},
                                {'e', "#b7a3d8", "end"},                    {'t', "#d9a0c8", "transition"},                  {'.', "#eeeeee", "waits for records"}};

Sort sort_of(const gdn::SegmentItem& i) {
  if (i.kind == gdn::SegmentKind::end) return end;
  if (i.kind == gdn::SegmentKind::transition) return transition;
  return i.segment == 0 ? from_state : i.base < 0 ? from_zero : from_records;
}

std::string name_of(const gdn::SegmentItem& i) {
  return fmt::format("sequence {}, head {}, chunks {}..{}, segment {}: {}", i.sequence, i.head, i.first, i.first + i.chunks, i.segment, kLooks[sort_of(i)].name);
}

}  // namespace

std::string segment_text(const gdn::Timeline& t, int sms, int rows, int columns) {
  const int apart = (sms + rows - 1) / rows;
  const double scale = columns / std::max(t.makespan, 1e-9);
  std::vector<std::string> lanes(static_cast<std::size_t>((sms + apart - 1) / apart), std::string(std::size_t(columns), ' '));
  for (const gdn::Span& s : t.spans) {
    if (s.sm % apart != 0) continue;
    std::string& lane = lanes[std::size_t(s.sm / apart)];
    const auto column = [&](double time) { return std::clamp(static_cast<int>(time * scale), 0, columns); };
    for (int x = column(s.begin); x < column(s.end); ++x) lane[std::size_t(x)] = kLooks[x < column(s.ready) ? waiting : sort_of(s.what)].letter;
    if (column(s.begin) < columns) lane[std::size_t(column(s.begin))] = '|';
  }
  std::string text;
  for (std::size_t i = 0; i < lanes.size(); ++i) text += fmt::format("  SM {:>3} {}\n", i * std::size_t(apart), lanes[i].substr(0, lanes[i].find_last_not_of(' ') + 1));
  text += fmt::format("         0{:>{}.1f} us\n ", t.makespan, columns - 4);
  for (const Look& look : kLooks) text += fmt::format(" {} {};", look.letter, look.name);
  text.back() = '\n';
  return text;
}

std::string segment_svg(const gdn::Timeline& t, int sms, const std::string& title) {
  constexpr int kLeft = 50, kWidth = 1000, kLane = 5, kTop = 44;
  const double scale = kWidth / std::max(t.makespan, 1e-9);
  std::string body = fmt::format("<text x=\"8\" y=\"14\">{}</text>\n", title);
  int x = 8;
  for (const Look& look : kLooks) {
    body += fmt::format("<rect x=\"{}\" y=\"22\" width=\"10\" height=\"10\" fill=\"{}\"/><text x=\"{}\" y=\"31\">{}</text>\n", x, look.colour, x + 14, look.name);
    x += 34 + 6 * static_cast<int>(std::string(look.name).size());
  }
  for (int sm = 0; sm < sms; sm += 12) body += fmt::format("<text x=\"{}\" y=\"{}\" text-anchor=\"end\">SM {}</text>\n", kLeft - 4, kTop + kLane * sm + 8, sm);
  const auto box = [&](const gdn::Span& s, double from, double to, const char* colour) {
    if (to > from)
      body += fmt::format("<rect x=\"{:.1f}\" y=\"{}\" width=\"{:.1f}\" height=\"{}\" fill=\"{}\" stroke=\"#555\" stroke-width=\"0.3\"><title>{}, {:.1f} to {:.1f} us</title></rect>\n",
                          kLeft + from * scale, kTop + kLane * s.sm, (to - from) * scale, kLane, colour, name_of(s.what), from, to);
  };
  for (const gdn::Span& s : t.spans) {
    box(s, s.begin, s.ready, kLooks[waiting].colour);
    box(s, s.ready, s.end, kLooks[sort_of(s.what)].colour);
  }
  const int bottom = kTop + kLane * sms;
  for (int tenth = 0; tenth <= 10; ++tenth)
    body += fmt::format("<text x=\"{}\" y=\"{}\" text-anchor=\"middle\">{:.0f}</text>\n", kLeft + kWidth * tenth / 10, bottom + 14, t.makespan * tenth / 10);
  return fmt::format("<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{}\" height=\"{}\" font-family=\"monospace\" font-size=\"10\">\n<rect width=\"100%\" height=\"100%\" "
                     "fill=\"white\"/>\n{}<text x=\"{}\" y=\"{}\">us</text>\n</svg>\n", kLeft + kWidth + 40, bottom + 22, body, kLeft + kWidth + 18, bottom + 14);
}

std::string segment_table(const gdn::SegmentPlan& plan) {
  std::string text = "  item  sequence  head  first  chunks  segment  base  what\n";
  for (std::size_t i = 0; i < plan.items.size(); ++i) {
    const gdn::SegmentItem& item = plan.items[i];
    text += fmt::format("  {:>4}  {:>8}  {:>4}  {:>5}  {:>6}  {:>7}  {:>4}  {}\n", i, item.sequence, item.head, item.first, item.chunks, item.segment, item.base, kLooks[sort_of(item)].name);
  }
  return text;
}

}  // namespace tilewright::cli
