// tilewright list
#include <nlohmann/json.hpp>
#include <ostream>

#include "runtime/cli/registry.h"

namespace tilewright::cli {

int list(const Options& o, std::ostream& out) {
  nlohmann::ordered_json json = nlohmann::ordered_json::array();
  for (const Entry& entry : registry()) {
    json.push_back({{"name", entry.name}, {"summary", entry.summary}, {"compile_time", entry.compile_time}});
    if (!o.json) out << entry.name << std::string(18 - std::min<std::size_t>(entry.name.size(), 17), ' ') << entry.summary << "\n";
  }
  if (o.json) out << json.dump(2) << "\n";
  return 0;
}

}  // namespace tilewright::cli
