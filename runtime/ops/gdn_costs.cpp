#include "runtime/ops/gdn_costs.h"

#include <cctype>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <memory>
#include <mutex>
#include <nlohmann/json.hpp>

#include "runtime/cache/files.h"
#include "runtime/ops/errors.h"

namespace tilewright::ops {
namespace {

using Json = nlohmann::ordered_json;

constexpr int kVersion = 1;
constexpr const char* kOperator = "gdn-forward";
// What a file has beside its numbers.
constexpr const char *kVersionField = "version", *kOperatorField = "operator", *kCardField = "card", *kSmsField = "sms", *kDriverField = "driver";

/// Reads one file; every complaint names it.
class Reader {
 public:
  explicit Reader(std::string file) : file_(std::move(file)) {}

  [[noreturn]] void refuse(const std::string& what) const { throw ArgumentError("planner costs " + file_ + ": " + what); }

  const Json& member(const Json& object, const std::string& path, const char* name) const {
    if (!object.contains(name)) refuse(full(path, name) + " is missing");
    return object.at(name);
  }
  int integer(const Json& object, const char* name, int least, int most) const {
    const Json& x = member(object, "", name);
    const std::string expected = least == most ? std::to_string(least) : "an integer from " + std::to_string(least) + " to " + std::to_string(most);
    if (!x.is_number_integer() || x < least || x > most) refuse(std::string(name) + " is " + shown(x) + ", expected " + expected);
    return x.get<int>();
  }
  std::string word(const Json& object, const char* name) const {
    const Json& x = member(object, "", name);
    if (!x.is_string()) refuse(std::string(name) + " is " + shown(x) + ", expected text");
    return x.get<std::string>();
  }
  double number(const Json& object, const std::string& path, const char* name) const {
    const Json& x = member(object, path, name);
    if (!x.is_number()) refuse(full(path, name) + " is " + shown(x) + ", expected microseconds");
    return x.get<double>();
  }
  /// Refuses what is misspelt.
  void only(const Json& object, const std::string& path, const std::vector<std::string>& names) const {
    if (!object.is_object()) refuse((path.empty() ? "the text" : path) + " is " + shown(object) + ", expected an object");
    std::string known;
    for (const std::string& name : names) known += (known.empty() ? "" : ", ") + name;
    for (const auto& [key, value] : object.items())
      if (std::find(names.begin(), names.end(), key) == names.end()) refuse(full(path, key) + " is no field, expected " + known);
  }

 private:
  static std::string full(const std::string& path, const std::string& name) { return path.empty() ? name : path + "." + name; }
  static std::string shown(const Json& x) {
    const std::string text = x.dump(-1, ' ', false, Json::error_handler_t::replace);
    return text.size() <= 40 ? text : text.substr(0, 40) + "...";
  }
  std::string file_;
};

GdnCostsFile parse(const std::string& file, const std::string& text) {
  const Reader r(file);
  const Json json = Json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (json.is_discarded()) r.refuse("no JSON, expected what `tilewright tune-planner` writes");
  GdnCostsFile result;
  std::vector<std::string> top{kVersionField, kOperatorField, kCardField, kSmsField, kDriverField};
  std::map<std::string_view, std::vector<std::string>> parts;
  for (const gdn::CostField& field : gdn::fields_of(result.costs)) parts[field.part].emplace_back(field.name);
  for (const auto& [part, names] : parts) top.emplace_back(part);
  if (!json.is_object()) r.only(json, "", top);
  r.integer(json, kVersionField, kVersion, kVersion);  // ahead of everything that another version may have otherwise
  r.only(json, "", top);
  if (const std::string of = r.word(json, kOperatorField); of != kOperator) r.refuse(std::string(kOperatorField) + " is \"" + of + "\", expected \"" + kOperator + "\"");
  result.card = {r.word(json, kCardField), r.integer(json, kSmsField, 1, 1024)};
  r.word(json, kDriverField);
  for (const auto& [part, names] : parts) r.only(r.member(json, "", std::string(part).c_str()), std::string(part), names);
  for (const gdn::CostField& field : gdn::fields_of(result.costs)) {
    const std::string part(field.part), name(field.name);
    field.value = r.number(json.at(part), part, name.c_str());
  }
  result.costs.sms = result.card.sms;
  if (const std::string why = gdn::why_not(result.costs); !why.empty()) r.refuse(why);
  return result;
}

std::string measured_on(const Card& card) { return "measured on " + card.name + ", " + std::to_string(card.sms) + " SMs"; }

}  // namespace

Card card_of(const runtime::Device& device) { return {device.card(), static_cast<int>(device.multiprocessors())}; }

std::string gdn_costs_text(const gdn::Costs& given, const Card& card, const std::string& driver) {
  Json json{{kVersionField, kVersion}, {kOperatorField, kOperator}, {kCardField, card.name}, {kSmsField, card.sms}, {kDriverField, driver}};
  gdn::Costs costs = given;
  for (const gdn::CostField& field : gdn::fields_of(costs)) json[std::string(field.part)][std::string(field.name)] = field.value;
  return json.dump(2) + "\n";
}

GdnCostsFile read_gdn_costs(const std::filesystem::path& file) {
  std::string text;
  if (const int failure = cache::read_file(file, text)) throw ArgumentError("planner costs " + file.string() + ": cannot be read: " + std::strerror(failure));
  return parse(file.string(), text);
}

std::filesystem::path gdn_costs_place(const cache::Settings& settings, const Card& card) {
  if (settings.folder.empty() || card.name.empty()) return {};
  std::string name;
  for (const char c : card.name) name += std::isalnum(static_cast<unsigned char>(c)) ? static_cast<char>(std::tolower(static_cast<unsigned char>(c))) : '-';
  return settings.folder / "planner" / (name + "-" + std::to_string(card.sms) + ".json");
}

GdnCosts load_gdn_costs(const char* named, const cache::Settings& settings, const Card& card, const cache::Warn& warn) {
  const gdn::ShippedCosts shipped = gdn::shipped_costs(card.name, card.sms);
  const GdnCosts otherwise{shipped.costs, "shipped, measured on " + std::string(shipped.measured_on)};
  const std::string choice = named == nullptr ? "" : named;
  if (choice == "off") return otherwise;
  const auto from = [&](const std::filesystem::path& file, const GdnCostsFile& read) {
    GdnCosts result{read.costs, file.string() + ", " + measured_on(read.card)};
    result.costs.sms = card.sms;
    return result;
  };
  if (!choice.empty()) try {
    return from(choice, read_gdn_costs(choice));
  } catch (const ArgumentError& error) {
    throw ArgumentError(std::string(error.what()) + " (" + kGdnCostsVariable + " names the file; `off`: shipped costs)");
  }
  const std::filesystem::path place = gdn_costs_place(settings, card);
  std::error_code unknown;
  if (place.empty() || !std::filesystem::exists(place, unknown)) return otherwise;
  try {
    const GdnCostsFile read = read_gdn_costs(place);
    if (read.card.name != card.name || read.card.sms != card.sms)
      throw ArgumentError("planner costs " + place.string() + ": " + measured_on(read.card) + ", expected " + card.name + ", " + std::to_string(card.sms) + " SMs");
    return from(place, read);
  } catch (const ArgumentError& error) {
    warn(std::string(error.what()) + "; going on with the shipped costs. `tilewright tune-planner` measures anew");
    return otherwise;
  }
}

const GdnCosts& gdn_costs_of(const runtime::Device& device) {
  // Never destroyed: threads may outlive main().
  static std::mutex& mutex = *new std::mutex;
  static auto& known = *new std::map<std::pair<std::string, int>, std::unique_ptr<const GdnCosts>>;
  const Card card = card_of(device);
  const std::lock_guard lock(mutex);
  auto& entry = known[{card.name, card.sms}];
  if (!entry) {
    const cache::Warn warn = [](const std::string& text) { std::fprintf(stderr, "tilewright: warning: %s\n", text.c_str()); };
    const cache::Warn of_the_cache = [](const std::string&) {};  // the cache itself says what is wrong with its settings
    entry = std::make_unique<const GdnCosts>(load_gdn_costs(std::getenv(kGdnCostsVariable), cache::settings_from_environment(of_the_cache), card, warn));
  }
  return *entry;
}

}  // namespace tilewright::ops
