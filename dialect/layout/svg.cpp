#include <algorithm>

#include "picture.h"

namespace tilewright::layout {

namespace {

using std::to_string;

/// Eight colours that are told apart on white, light enough for black text.
constexpr const char *kColours[8] = {"#f4a6a6", "#f6c58f", "#f3e794", "#bfe3a0",
                                     "#a3dccb", "#a4c8f0", "#c3b1ec", "#f0b3de"};

std::string escaped(const std::string &text) {
  std::string out;
  for (char c : text)
    out += c == '<' ? "&lt;" : c == '>' ? "&gt;" : c == '&' ? "&amp;" : c == '"' ? "&quot;" : std::string(1, c);
  return out;
}

/// A grid of cells under a title, with numbered rows and columns.
class Drawing {
public:
  Drawing(std::string title, int rows, int columns, int cell_width)
      : width_(kLeft + columns * cell_width + 8), height_(kTop + rows * kCellHeight + 8), cell_width_(cell_width) {
    text_ = "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"" + to_string(width_) + "\" height=\"" +
            to_string(height_) + "\" font-family=\"monospace\" font-size=\"10\">\n<rect width=\"100%\" height=\"100%\" "
            "fill=\"white\"/>\n";
    label(8, 16, title, "start");
  }
  void row_name(int row, const std::string &name) { label(kLeft - 4, kTop + row * kCellHeight + 12, name, "end"); }
  void column_name(int column, const std::string &name) {
    label(kLeft + column * cell_width_ + cell_width_ / 2, kTop - 4, name, "middle");
  }
  void cell(int row, int column, const char *colour, const std::string &name, const std::string &tooltip) {
    int x = kLeft + column * cell_width_, y = kTop + row * kCellHeight;
    text_ += "<g><title>" + escaped(tooltip) + "</title><rect x=\"" + to_string(x) + "\" y=\"" + to_string(y) +
             "\" width=\"" + to_string(cell_width_) + "\" height=\"" + to_string(kCellHeight) + "\" fill=\"" + colour +
             "\" stroke=\"#777\" stroke-width=\"0.5\"/>";
    label(x + cell_width_ / 2, y + 12, name, "middle");
    text_ += "</g>\n";
  }
  /// One entry of the legend, right of the ones before.
  void legend(const char *colour, const std::string &name) {
    text_ += "<rect x=\"" + to_string(legend_) + "\" y=\"24\" width=\"10\" height=\"10\" fill=\"" + std::string(colour) +
             "\" stroke=\"#777\" stroke-width=\"0.5\"/>";
    label(legend_ + 14, 33, name, "start");
    legend_ += 26 + 6 * int(name.size());
  }
  std::string finish() {
    if (legend_ > width_) // a narrow tile: room for the legend
      text_.replace(text_.find("width=\"") + 7, to_string(width_).size(), to_string(legend_));
    return text_ + "</svg>\n";
  }

private:
  static constexpr int kLeft = 40, kTop = 56, kCellHeight = 16;
  void label(int x, int y, const std::string &text, const char *anchor) {
    text_ += "<text x=\"" + to_string(x) + "\" y=\"" + to_string(y) + "\" text-anchor=\"" + anchor + "\">" +
             escaped(text) + "</text>\n";
  }
  std::string text_;
  int width_, height_, cell_width_, legend_ = 8;
};

std::string range(int first, int count) {
  return count == 1 ? to_string(first) : to_string(first) + ".." + to_string(first + count - 1);
}

/// Passes beyond the least of 32 lanes that access element_of(lane).
template <class F> int cost(const SharedLayout &s, int access_bytes, F element_of) {
  std::array<int64_t, kLanes> bytes;
  for (int lane = 0; lane < kLanes; ++lane) {
    Coord at = element_of(lane);
    bytes[size_t(lane)] = at.row < s.rows && at.col < s.cols ? s.byte_of(at.row, at.col) : -1;
  }
  return bank_conflicts(bytes, access_bytes);
}

} // namespace

std::string access_report(const SharedLayout &s) {
  std::string out;
  auto line = [&](const std::string &what, int extra) {
    out += "  " + what + ": " + (extra == 0 ? "no conflict" : to_string(extra) + " passes beyond the least") + "\n";
  };
  const int one = std::min(s.element_bytes, 16);
  line(to_string(std::min(s.cols, kLanes)) + " elements of a row", cost(s, one, [](int l) { return Coord{0, l}; }));
  line(to_string(std::min(s.rows, kLanes)) + " elements of a column", cost(s, one, [](int l) { return Coord{l, 0}; }));
  if (s.element_bytes == 2 && s.rows >= 16 && s.cols >= 16) {
    line("ldmatrix, a 16 x 16 block", cost(s, 16, [](int l) { return matrix_lane_address(l, 0, 0, false); }));
    line("ldmatrix.trans, a 16 x 16 block", cost(s, 16, [](int l) { return matrix_lane_address(l, 0, 0, true); }));
  }
  return out;
}

std::string svg(const SharedLayout &s, const std::string &title, int max_rows, int max_cols) {
  const bool whole_chunks = s.row_bytes() % kChunkBytes == 0 && s.cols * s.element_bytes % kChunkBytes == 0;
  const int step = whole_chunks ? std::max(1, kChunkBytes / s.element_bytes) : 1;
  const int rows = std::min(s.rows, max_rows), cells = (std::min(s.cols, max_cols) + step - 1) / step;
  Drawing d(title, rows, cells, 52);
  for (int group = 0; group < 8; ++group)
    d.legend(kColours[group], "banks " + range(4 * group, 4));
  for (int cell = 0; cell < cells; ++cell)
    d.column_name(cell, to_string(cell * step));
  for (int r = 0; r < rows; ++r) {
    d.row_name(r, to_string(r));
    for (int cell = 0; cell < cells; ++cell) {
      int64_t byte = s.byte_of(r, cell * step);
      int bank = int(byte / 4 % kBanks), banks = std::max(1, step * s.element_bytes / 4);
      d.cell(r, cell, kColours[bank / 4], to_string(byte),
             "row " + to_string(r) + ", columns " + range(cell * step, step) + ": byte " + to_string(byte) + ", banks " +
                 range(bank, banks));
    }
  }
  return d.finish();
}

std::string svg(const FragmentLayout &f, int element_bytes, const std::string &title, int max_rows, int max_cols) {
  const int rows = std::min(f.rows, max_rows), cols = std::min(f.cols, max_cols);
  Drawing d(title, rows, cols, 52);
  for (int group = 0; group < 8; ++group)
    d.legend(kColours[group], "lanes " + range(4 * group, 4));
  for (int c = 0; c < cols; ++c)
    d.column_name(c, to_string(c));
  for (int r = 0; r < rows; ++r) {
    d.row_name(r, to_string(r));
    for (int c = 0; c < cols; ++c) {
      Owner o = f.owner(r, c);
      int reg = o.index * element_bytes / 4;
      d.cell(r, c, kColours[o.lane / 4], "t" + to_string(o.lane) + " r" + to_string(reg),
             "row " + to_string(r) + ", column " + to_string(c) + ": warp " + to_string(o.warp) + ", lane " +
                 to_string(o.lane) + ", register " + to_string(reg) +
                 (element_bytes == 2 ? o.index % 2 ? ", high half" : ", low half" : ""));
    }
  }
  return d.finish();
}

} // namespace tilewright::layout
