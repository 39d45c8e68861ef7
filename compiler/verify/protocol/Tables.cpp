// The tiles, rings and barriers of a kernel, with counts and bytes as the lowering derives them.
#include "compiler/verify/Uses.h"
#include "compiler/verify/protocol/Program.h"

using namespace mlir;

namespace tilewright::verify::protocol {

void describe_tiles(Program& p, const llvm::DenseSet<Value>& control_tiles) {
  auto& body = p.kernel.getBody();
  llvm::StringMap<int> by_name;
  std::vector<int> group;
  for (auto op : body.getOps<tile::SharedOp>()) {
    Tile t;
    t.op = op, t.name = op.getSymName().str();
    auto type = op.getTile().getType();
    t.rows = static_cast<int>(type.getShape()[0]), t.columns = static_cast<int>(type.getShape()[1]), t.stages = static_cast<int>(op.getStages());
    t.control = control_tiles.contains(op.getTile());
    t.row_major = op.getLayout() != "swizzle128";
    t.element_bytes = static_cast<int>(tile::element_bytes(type.getElementType()));
    t.row_bytes = t.columns * t.element_bytes + op.getPad();
    t.offset = op.getOffset().value_or(0);
    auto stride = op->getAttrOfType<IntegerAttr>("stage_stride");
    t.stride = stride ? stride.getInt() : 0;
    by_name[t.name] = static_cast<int>(p.tiles.size());
    group.push_back(static_cast<int>(p.tiles.size()));
    p.tiles.push_back(std::move(t));
  }
  for (auto [i, t] : llvm::enumerate(p.tiles)) {
    if (!t.op.getOverlay()) continue;
    int below = by_name.lookup(*t.op.getOverlay());
    while (group[below] != below) below = group[below];
    group[i] = below;
    t.overlaid = p.tiles[below].overlaid = true;
  }
  for (auto [i, t] : llvm::enumerate(p.tiles)) {
    if (group[i] != static_cast<int>(i)) continue;
    t.memory = p.memories;
    p.memories += t.overlaid ? 1 : t.stages;
  }
  for (auto [i, t] : llvm::enumerate(p.tiles)) {
    int root = static_cast<int>(i);
    while (group[root] != root) root = group[root];
    t.memory = p.tiles[root].memory;
  }
  // Ordinary writes need a fence where the tile itself is read asynchronously, or its memory is written so.
  for (Tile& t : p.tiles)
    for_each_use(t.op, [&](Operation* user, Value) {
      for (const RawUse& use : tile_uses(user, 0)) {
        if (!use.async || root_of(use.tile) != t.op) continue;
        for (Tile& other : p.tiles) other.fenced |= other.op == t.op || (use.write && other.memory == t.memory);
      }
    });
}

void describe_rings(Program& p) {
  auto warps = [&](StringRef role) { return p.launch.roles.at(role.str()).warps; };
  for (auto op : p.kernel.getBody().getOps<tile::RingOp>()) {
    RingInfo r;
    r.op = op, r.name = op.getSymName().str(), r.stages = static_cast<int>(op.getStages());
    const StageCopies copies = stage_copies(op);
    r.bytes = copies.bytes;
    if (copies.multicast) r.ctas = p.launch.cluster_size();
    for (Operation* user : op.getRing().getUsers()) r.committed |= isa<tile::CommitOp>(user);
    int producer = warps(op.getProducer());
    r.full_arrivals = (r.bytes ? 1 : 0) + (r.committed ? producer : 0);
    for (Attribute c : op.getConsumers()) r.empty_arrivals += r.ctas * warps(cast<StringAttr>(c).getValue());
    for (Value v : op.getTiles())
      for (Tile& tile : p.tiles)
        if (tile.op.getTile() == v) tile.ring = static_cast<int>(p.rings.size());
    p.rings.push_back(std::move(r));
  }
  for (auto op : p.kernel.getBody().getOps<tile::BarrierOp>()) {
    BarrierInfo b{op, op.getSymName().str(), 0, op.getCluster()};
    for (Attribute a : op.getArrivers()) b.arrivals += warps(cast<StringAttr>(a).getValue());
    if (b.cluster) b.arrivals *= p.launch.cluster_size();
    p.barriers.push_back(std::move(b));
  }
}

}  // namespace tilewright::verify::protocol
