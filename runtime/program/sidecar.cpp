// Reads the JSON description of a compiled program.
#include "runtime/program/sidecar.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>

#include "tilewright/error.h"

namespace tilewright::program {
namespace {

using Json = nlohmann::json;
using runtime::MapElement;
using runtime::MapSwizzle;

[[noreturn]] void fail(const std::string& where, const std::string& what) {
  throw Error("sidecar, " + where + ": " + what);
}

/// The value of a key; Error where it is absent.
const Json& member(const Json& object, const char* key, const std::string& where) {
  if (!object.is_object()) fail(where, "expected an object, given " + object.dump());
  const auto found = object.find(key);
  if (found == object.end()) fail(where, "no key '" + std::string(key) + "'");
  return *found;
}

unsigned whole(const Json& value, const std::string& where) {
  if (!value.is_number_unsigned() || value.get<std::uint64_t>() > 0xffffffffu)
    fail(where, "expected an integer of 0 to 2^32 - 1, given " + value.dump());
  return value.get<unsigned>();
}

std::string word(const Json& value, const std::string& where) {
  if (!value.is_string()) fail(where, "expected a string, given " + value.dump());
  return value.get<std::string>();
}

const Json& list(const Json& value, const std::string& where) {
  if (!value.is_array()) fail(where, "expected a list, given " + value.dump());
  return value;
}

/// The choice whose name is given; Error listing all names otherwise.
template <class Value, std::size_t N>
Value choose(const std::pair<const char*, Value> (&choices)[N], const std::string& given, const std::string& where) {
  std::string names;
  for (const auto& [name, value] : choices) {
    if (given == name) return value;
    names += (names.empty() ? "" : ", ") + std::string(name);
  }
  fail(where, "'" + given + "' is none of " + names);
}

Expression expression(const Json& json, const std::string& where) {
  using Kind = Expression::Kind;
  constexpr std::pair<const char*, Kind> operators[]{{"add", Kind::add}, {"sub", Kind::sub}, {"mul", Kind::mul},
                                                     {"div", Kind::div}, {"ceildiv", Kind::ceildiv},
                                                     {"min", Kind::min}, {"max", Kind::max}};
  Expression result;
  if (json.is_number_integer()) {
    result.value = json.get<std::int64_t>();
  } else if (json.is_string()) {
    result.kind = Kind::name;
    result.name = json.get<std::string>();
  } else if (json.is_array() && json.size() == 3 && json[0].is_string()) {
    result.kind = choose(operators, json[0].get<std::string>(), where);
    result.operands = {expression(json[1], where), expression(json[2], where)};
  } else {
    fail(where, "expected an integer, a name or [operator, a, b], given " + json.dump());
  }
  return result;
}

MapDescription map_description(const Json& json, const TensorDescription& tensor, const std::string& where) {
  constexpr std::pair<const char*, MapElement> elements[]{{"f32", MapElement::f32}, {"bf16", MapElement::bf16},
                                                          {"f16", MapElement::f16}, {"i32", MapElement::i32},
                                                          {"u8", MapElement::u8}};
  constexpr std::pair<const char*, MapSwizzle> swizzles[]{{"none", MapSwizzle::none}, {"b32", MapSwizzle::b32},
                                                          {"b64", MapSwizzle::b64}, {"b128", MapSwizzle::b128}};
  MapDescription map;
  map.element = choose(elements, word(member(json, "element", where), where), where);
  map.swizzle = choose(swizzles, word(member(json, "swizzle", where), where), where);
  if (runtime::size_of(map.element) != element_bytes(tensor.element))
    fail(where, "a map of " + word(json["element"], where) + " over tensor '" + tensor.name + "' of " + tensor.element);
  map.ragged = json.value("ragged", false);
  for (const Json& side : list(member(json, "box", where), where)) map.box.push_back(whole(side, where + " box"));

  const auto rank = static_cast<unsigned>(tensor.shape.size());
  const unsigned first = map.ragged ? 1 : 0;
  if (json.contains("dims")) {
    for (const Json& dim : list(json["dims"], where)) {
      std::vector<unsigned>& axes = map.dims.emplace_back();
      if (dim.is_array())
        for (const Json& axis : dim) axes.push_back(whole(axis, where + " dims"));
      else
        axes.push_back(whole(dim, where + " dims"));
      if (axes.empty()) fail(where, "a dimension of no axis");
    }
  } else {
    for (unsigned axis = rank; axis-- > first;) map.dims.push_back({axis});
  }
  for (const auto& axes : map.dims)
    for (const unsigned axis : axes)
      if (axis < first || axis >= rank)
        fail(where, "axis " + std::to_string(axis) + " of a tensor of rank " + std::to_string(rank) +
                        (map.ragged ? ", axis 0 is the ragged one" : ""));

  const std::size_t map_rank = map.dims.size() + (map.ragged ? 3 : 0);
  if (map_rank < 1 || map_rank > 5) fail(where, "a map of rank " + std::to_string(map_rank) + ", expected 1 to 5");
  if (map.box.size() != map_rank)
    fail(where, "a box of rank " + std::to_string(map.box.size()) + " for a map of rank " + std::to_string(map_rank));
  for (const std::uint32_t side : map.box)
    if (side < 1 || side > 256) fail(where, "a box side of " + std::to_string(side) + ", expected 1 to 256");
  const unsigned inner = map.box[0] * runtime::size_of(map.element);
  const unsigned span = map.swizzle == MapSwizzle::none ? 256 * 4 : 16u << static_cast<unsigned>(map.swizzle);
  if (inner % 16 != 0 || inner > span)
    fail(where, "an inner box side of " + std::to_string(inner) + " bytes, expected a multiple of 16 of at most " +
                    std::to_string(span));
  return map;
}

ParameterDescription parameter(const Json& json, const Sidecar& sidecar, const std::string& where) {
  using Kind = ParameterKind;
  constexpr std::pair<const char*, Kind> kinds[]{{"tensor_map", Kind::tensor_map}, {"pointer", Kind::pointer},
                                                 {"i32", Kind::i32}, {"i64", Kind::i64}, {"f32", Kind::f32},
                                                 {"stride_i64", Kind::stride_i64}};
  ParameterDescription result;
  result.kind = choose(kinds, word(member(json, "kind", where), where), where);
  if (result.kind == Kind::tensor_map || result.kind == Kind::pointer || result.kind == Kind::stride_i64) {
    result.tensor = word(member(json, "tensor", where), where);
    const TensorDescription* tensor = sidecar.tensor(result.tensor);
    if (tensor == nullptr) fail(where, "unknown tensor '" + result.tensor + "'");
    if (result.kind == Kind::tensor_map) result.map = map_description(json, *tensor, where);
    if (result.kind == Kind::stride_i64) {
      result.axis = whole(member(json, "axis", where), where);
      if (result.axis >= tensor->shape.size())
        fail(where, "axis " + std::to_string(result.axis) + " of tensor '" + result.tensor + "' of rank " +
                        std::to_string(tensor->shape.size()));
    }
  } else if (json.contains("dim") && result.kind != Kind::f32) {
    result.value = expression(json["dim"], where);
  } else if (json.contains("value") && result.kind != Kind::f32) {
    result.value = expression(json["value"], where);
  } else {
    result.scalar = word(member(json, "scalar", where), where);
  }
  return result;
}

TensorDescription tensor_description(const Json& json, const std::string& where) {
  constexpr std::pair<const char*, TensorRole> roles[]{{"in", TensorRole::in}, {"out", TensorRole::out},
                                                       {"inout", TensorRole::inout}};
  TensorDescription tensor;
  tensor.name = word(member(json, "name", where), where);
  const std::string here = "tensor '" + tensor.name + "'";
  tensor.element = word(member(json, "element", here), here);
  element_bytes(tensor.element);
  for (const Json& extent : list(member(json, "shape", here), here)) tensor.shape.push_back(expression(extent, here));
  tensor.role = choose(roles, json.contains("role") ? word(json["role"], here) : "in", here);
  tensor.optional = json.value("optional", false);
  if (json.contains("alignment")) tensor.alignment = whole(json["alignment"], here);
  return tensor;
}

Sidecar read(const Json& json) {
  Sidecar sidecar;
  sidecar.name = word(member(json, "name", "program"), "name");
  sidecar.threads = whole(member(json, "threads", "program"), "threads");
  if (sidecar.threads == 0 || sidecar.threads > 1024)
    fail("threads", std::to_string(sidecar.threads) + ", expected 1 to 1024");
  if (json.contains("dynamic_shared_bytes"))
    sidecar.dynamic_shared_bytes = whole(json["dynamic_shared_bytes"], "dynamic_shared_bytes");
  const auto three = [&](const char* key) -> const Json& {
    const Json& value = list(member(json, key, "program"), key);
    if (value.size() != 3) fail(key, "expected 3 entries, given " + value.dump());
    return value;
  };
  if (json.contains("cluster"))
    for (unsigned axis = 0; axis < 3; ++axis) {
      sidecar.cluster[axis] = whole(three("cluster")[axis], "cluster");
      if (sidecar.cluster[axis] == 0) fail("cluster", "0 CTAs along axis " + std::to_string(axis));
    }
  for (unsigned axis = 0; axis < 3; ++axis) sidecar.grid[axis] = expression(three("grid")[axis], "grid");
  if (json.contains("dims"))
    for (const Json& dim : list(json["dims"], "dims")) sidecar.dims.push_back(word(dim, "dims"));
  if (json.contains("tensors"))
    for (const Json& tensor : list(json["tensors"], "tensors")) {
      TensorDescription description = tensor_description(tensor, "tensors");
      if (sidecar.tensor(description.name) != nullptr) fail("tensors", "two of name '" + description.name + "'");
      sidecar.tensors.push_back(std::move(description));
    }
  for (const Json& one : list(member(json, "parameters", "program"), "parameters"))
    sidecar.parameters.push_back(
        parameter(one, sidecar, "parameter " + std::to_string(sidecar.parameters.size())));
  if (json.contains("roles"))
    for (const Json& role : list(json["roles"], "roles"))
      sidecar.roles.push_back({word(member(role, "name", "roles"), "roles"),
                               whole(member(role, "first_warp", "roles"), "roles"),
                               whole(member(role, "warps", "roles"), "roles"),
                               role.contains("registers") ? whole(role["registers"], "roles") : 0});
  return sidecar;
}

}  // namespace

const TensorDescription* Sidecar::tensor(std::string_view wanted) const {
  const auto found =
      std::find_if(tensors.begin(), tensors.end(), [&](const TensorDescription& one) { return one.name == wanted; });
  return found == tensors.end() ? nullptr : &*found;
}

Sidecar parse_sidecar(std::string_view text) {
  try {
    return read(Json::parse(text));
  } catch (const Json::exception& error) {
    throw Error("sidecar is not the JSON expected: " + std::string(error.what()));
  }
}

unsigned element_bytes(std::string_view element) {
  constexpr std::pair<const char*, unsigned> sizes[]{{"f64", 8}, {"i64", 8}, {"u64", 8}, {"f32", 4},  {"tf32", 4},
                                                     {"i32", 4}, {"u32", 4}, {"bf16", 2}, {"f16", 2}, {"i16", 2},
                                                     {"u16", 2}, {"i8", 1},  {"u8", 1}};
  return choose(sizes, std::string(element), "element");
}

}  // namespace tilewright::program
