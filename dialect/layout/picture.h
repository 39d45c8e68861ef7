#pragma once
#include <string>

#include "dialect/layout/layout.h"

/// Drawings of layouts. Every place in them comes from the layouts' own formulas, element by element.
namespace tilewright::layout {

/// What one warp's access costs, by enumeration: a row, a column, and for 16-bit tiles ldmatrix and its transposed form.
/// One line each: "  a column, 32 rows: 31 passes beyond the least".
std::string access_report(const SharedLayout &layout);

/// SVG of the first rows and columns of a shared tile: a cell for 16 bytes (for one element where rows are no multiple of
/// 16 bytes), with its byte offset and in the colour of its banks. A cell's tooltip names its elements and banks.
std::string svg(const SharedLayout &layout, const std::string &title, int max_rows = 64, int max_cols = 128);
/// SVG of the first rows and columns of a fragment: a cell for an element, with lane and register of its owner and in the
/// colour of the lane; 16-bit elements lie two in a register.
std::string svg(const FragmentLayout &layout, int element_bytes, const std::string &title, int max_rows = 64,
                int max_cols = 64);

} // namespace tilewright::layout
