// The course of a plan of segments (kernels/gdn/segment_plan.h), for people: SMs against time.
#pragma once
#include <string>

#include "kernels/gdn/planner_reference.h"

namespace tilewright::cli {

/// Rows of SMs, at most `rows` of them evenly chosen, and `columns` of time; a letter for each kind of item, '|' where one begins.
std::string segment_text(const gdn::Timeline& timeline, int sms, int rows = 33, int columns = 100);

/// A lane for each SM, time from left to right, a colour for each kind of item; `title` above.
std::string segment_svg(const gdn::Timeline& timeline, int sms, const std::string& title);

/// One line for each item of the list, in its order.
std::string segment_table(const gdn::SegmentPlan& plan);

}  // namespace tilewright::cli
