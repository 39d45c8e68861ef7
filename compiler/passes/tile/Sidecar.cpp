#include "compiler/passes/tile/Sidecar.h"

#include "compiler/passes/tile/SharedLayout.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;
namespace json = llvm::json;

namespace tilewright::passes {
namespace {

std::string element_name(Type t) {
  if (t.isF32()) return "f32";
  if (t.isBF16()) return "bf16";
  if (t.isF16()) return "f16";
  return "i" + std::to_string(t.getIntOrFloatBitWidth());
}

/// An extent expression: its text is JSON already.
json::Value expression(StringRef text) {
  auto parsed = json::parse(text);
  if (parsed) return std::move(*parsed);
  llvm::consumeError(parsed.takeError());
  return text.str();
}

std::string place(Location l) {
  if (auto file = dyn_cast<FileLineColLoc>(l)) return file.getFilename().str() + ":" + std::to_string(file.getLine());
  return "";
}

json::Object tensor(StringRef name, tile::GlobalType type, DictionaryAttr description) {
  json::Array shape;
  for (Attribute e : cast<ArrayAttr>(description.get("shape"))) shape.push_back(expression(cast<StringAttr>(e).getValue()));
  return json::Object{{"name", name.str()},
                      {"element", element_name(type.getElementType())},
                      {"shape", std::move(shape)},
                      {"role", cast<StringAttr>(description.get("role")).getValue().str()},
                      {"optional", cast<BoolAttr>(description.get("optional")).getValue()}};
}

json::Object parameter(const lowering::Parameter& p, StringRef name, Type type, StringRef kind) {
  if (p.kind == lowering::Parameter::scalar)
    return json::Object{{"kind", element_name(type)}, {kind == "dim" ? "dim" : "scalar", name.str()}};
  if (p.kind == lowering::Parameter::pointer) return json::Object{{"kind", "pointer"}, {"tensor", name.str()}};
  json::Array box;
  unsigned bytes = tile::element_bytes(cast<tile::GlobalType>(type).getElementType());
  for (size_t i = p.box.size(); i-- > 0;) {
    bool inner = i + 1 == p.box.size();
    box.push_back(inner && p.swizzled ? std::min<int64_t>(p.box[i], layout::kPanelBytes / bytes) : p.box[i]);
  }
  if (p.ragged) box.push_back(1), box.push_back(1);
  return json::Object{{"kind", "tensor_map"}, {"tensor", name.str()}, {"element", element_name(cast<tile::GlobalType>(type).getElementType())},
                      {"swizzle", p.swizzled ? "b128" : "none"}, {"box", std::move(box)}, {"ragged", p.ragged}};
}

json::Array shape_of(ArrayRef<int64_t> shape) {
  json::Array out;
  for (int64_t extent : shape) out.push_back(extent);
  return out;
}

json::Object role(tile::RoleOp op, const verify::RolePlace& p) {
  json::Object out{{"name", op.getSymName().str()}, {"first_warp", p.first_warp}, {"warps", p.warps}, {"registers", p.registers},
                   {"single_thread", p.single_thread}, {"line", place(op.getLoc())}};
  WalkResult meets = op.walk([](tile::SyncOp) { return WalkResult::interrupt(); });
  if (meets.wasInterrupted() && p.barrier) out["barrier"] = p.barrier;
  return out;
}

json::Object shared_tile(tile::SharedOp tile) {
  auto type = tile.getTile().getType();
  const int64_t stages = tile.getStages(), bytes = layout_of(tile).size_bytes();
  auto stride = tile->getAttrOfType<IntegerAttr>("stage_stride");
  json::Object out{{"name", tile.getSymName().str()}, {"offset", static_cast<int64_t>(tile.getOffset().value_or(0))},
                   {"stages", stages}, {"bytes", bytes}, {"shape", shape_of(type.getShape())},
                   {"element", element_name(type.getElementType())}, {"layout", tile.getLayout().value_or("").str()},
                   {"pad_bytes", static_cast<int64_t>(tile.getPad())}, {"line", place(tile.getLoc())}};
  if (stages > 1 && stride) out["stage_stride"] = stride.getInt();
  if (tile.getOverlay()) out["overlay"] = tile.getOverlay()->str();
  return out;
}

/// The named fragments of all roles.
json::Array fragments(tile::KernelOp kernel, const lowering::Lowering& lowering) {
  json::Array out;
  for (auto role : kernel.getBody().getOps<tile::RoleOp>())
    role.walk([&](tile::FragOp op) {
      auto name = op.getSymName();
      if (!name || name->empty()) return;
      auto type = op.getFrag().getType();
      out.push_back(json::Object{{"name", name->str()}, {"role", role.getSymName().str()}, {"shape", shape_of(type.getShape())},
                                 {"element", element_name(type.getElementType())},
                                 {"registers", static_cast<int64_t>(lowering.registers_of(op.getFrag()))}, {"line", place(op.getLoc())}});
    });
  return out;
}

}  // namespace

std::string write_sidecar(tile::KernelOp kernel, const lowering::Lowering& lowering) {
  json::Object out;
  const auto& launch = lowering.launch();
  out["name"] = kernel.getSymName().str();
  out["threads"] = launch.threads;
  out["dynamic_shared_bytes"] = kernel->getAttrOfType<IntegerAttr>("shared_bytes").getInt();
  out["cluster"] = json::Array{launch.cluster[0], launch.cluster[1], launch.cluster[2]};
  json::Array grid, dims, scalars, tensors, parameters, roles, barriers, hand_made, meetings, shared, allow;
  if (auto g = kernel.getGridAttr())
    for (Attribute e : g) grid.push_back(expression(cast<StringAttr>(e).getValue()));
  else
    grid = json::Array{1, 1, 1};
  Block& body = kernel.getBody().front();
  auto names = kernel.getParamNames();
  auto description = [&](int i) { return cast<DictionaryAttr>((*kernel.getShapes())[i]); };
  auto name = [&](int i) { return cast<StringAttr>(names[i]).getValue(); };
  auto kind = [&](int i) { return cast<StringAttr>(description(i).get("kind")).getValue(); };
  for (int i = 0; i < static_cast<int>(names.size()); ++i) {
    if (kind(i) == "dim") dims.push_back(name(i).str());
    else if (kind(i) == "scalar") scalars.push_back(name(i).str());
    else tensors.push_back(tensor(name(i), cast<tile::GlobalType>(body.getArgument(i).getType()), description(i)));
  }
  for (const auto& p : lowering.parameters())
    parameters.push_back(parameter(p, name(p.argument), body.getArgument(p.argument).getType(), kind(p.argument)));
  llvm::StringMap<tile::RoleOp> role_ops;
  for (auto op : kernel.getBody().getOps<tile::RoleOp>()) role_ops[op.getSymName()] = op;
  for (const auto& name : launch.order) roles.push_back(role(role_ops[name], launch.roles.at(name)));
  for (auto ring : kernel.getBody().getOps<tile::RingOp>()) {
    auto plan = lowering::plan_ring(ring, launch);
    json::Array consumers, tiles;
    for (Value tile : ring.getTiles()) tiles.push_back(tile.getDefiningOp<tile::SharedOp>().getSymName().str());
    for (Attribute c : ring.getConsumers()) consumers.push_back(cast<StringAttr>(c).getValue().str());
    barriers.push_back(json::Object{{"name", ring.getSymName().str()}, {"offset", plan.offset}, {"stages", plan.stages},
                                    {"producer", ring.getProducer().str()}, {"consumers", std::move(consumers)},
                                    {"full_arrivals", plan.full_arrivals}, {"empty_arrivals", plan.empty_arrivals},
                                    {"bytes", plan.bytes}, {"tiles", std::move(tiles)}, {"line", place(ring.getLoc())}});
  }
  auto names_of = [](ArrayAttr roles) {
    json::Array out;
    for (Attribute role : roles) out.push_back(cast<StringAttr>(role).getValue().str());
    return out;
  };
  for (auto barrier : kernel.getBody().getOps<tile::BarrierOp>())
    hand_made.push_back(json::Object{{"name", barrier.getSymName().str()}, {"offset", static_cast<int64_t>(barrier.getOffset().value_or(0))},
                                     {"arrivers", names_of(barrier.getArrivers())}, {"waiters", names_of(barrier.getWaiters())},
                                     {"arrivals", lowering::arrivals_of(barrier, launch)}, {"line", place(barrier.getLoc())}});
  for (const auto& [names, id] : launch.meetings) {
    json::Array together;
    for (const std::string& name : names) together.push_back(name);
    meetings.push_back(json::Object{{"id", id}, {"roles", std::move(together)}, {"threads", launch.threads_of(names)}});
  }
  for (auto tile : kernel.getBody().getOps<tile::SharedOp>()) shared.push_back(shared_tile(tile));
  if (auto a = kernel.getAllowAttr())
    for (Attribute e : a) allow.push_back(cast<StringAttr>(e).getValue().str());
  out["line"] = place(kernel.getLoc());
  if (launch.budgets) out["registers_at_entry"] = launch.entry_registers;
  if (lowering.trace_bytes()) {
    json::Array names;
    for (const std::string& name : lowering.stamps()) names.push_back(name);
    out["trace"] = json::Object{{"variable", hopper::kTrace}, {"bytes", lowering.trace_bytes()}, {"header_bytes", lowering::kTraceHeaderBytes},
                                {"stamps_of_a_warp", lowering::kStampsOfAWarp}, {"stamps", std::move(names)}};
  }
  out["fragments"] = fragments(kernel, lowering);
  out["grid"] = std::move(grid);
  out["dims"] = std::move(dims);
  out["scalars"] = std::move(scalars);
  out["tensors"] = std::move(tensors);
  out["parameters"] = std::move(parameters);
  out["roles"] = std::move(roles);
  out["barriers"] = std::move(barriers);
  if (!hand_made.empty()) out["mbarriers"] = std::move(hand_made);
  if (!meetings.empty()) out["meetings"] = std::move(meetings);
  out["shared"] = std::move(shared);
  out["allow"] = std::move(allow);
  std::string text;
  llvm::raw_string_ostream os(text);
  os << llvm::formatv("{0:2}", json::Value(std::move(out)));
  return text;
}

}  // namespace tilewright::passes
