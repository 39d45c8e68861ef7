// Rules for kernels whose CTAs run in clusters.
#include "compiler/verify/Launch.h"
#include "compiler/verify/Rules.h"
#include "compiler/verify/Uses.h"
#include "dialect/target/machine.h"

using namespace mlir;

namespace tilewright::verify {
namespace {

std::string quoted(StringRef s) { return "\"" + s.str() + "\""; }

bool needs_cluster(Operation* op) {
  if (auto load = dyn_cast<tile::TmaLoadOp>(op)) return load.getMulticast();
  if (auto barrier = dyn_cast<tile::BarrierOp>(op)) return barrier.getCluster();
  return isa<tile::ClusterRankOp, tile::ClusterIndexOp, tile::ClusterArriveOp, tile::ClusterWaitOp, tile::RemoteReadOp, tile::RemoteWriteOp>(op);
}

int64_t elements(Value tile) {
  auto shape = cast<tile::SharedType>(tile.getType()).getShape();
  return shape[0] * shape[1];
}

/// Each CTA brings one part; all parts together are the tile.
LogicalResult check_part(tile::TmaLoadOp load, int size) {
  auto root = root_of(load.getTile());
  if (elements(load.getTile()) * size == elements(root.getTile())) return success();
  auto shape = load.getTile().getType().getShape();
  return load.emitOpError() << "multicast: each of " << size << " CTAs brings [" << shape[0] << ", " << shape[1] << "] of tile " << quoted(root.getSymName())
                            << ", " << elements(load.getTile()) * size << " elements together; expected its " << elements(root.getTile())
                            << " (a view that is 1/" << size << " of the tile)";
}

/// The cluster's barrier counts every thread: a role that never comes would keep the others waiting until it ends.
LogicalResult check_arrivals(tile::KernelOp kernel) {
  tile::RoleOp comes, stays_away;
  for (auto role : kernel.getBody().getOps<tile::RoleOp>()) {
    bool arrives = false;
    role.walk([&](tile::ClusterArriveOp) { arrives = true; });
    (arrives ? comes : stays_away) = role;
  }
  if (!comes || !stays_away) return success();
  return stays_away.emitOpError() << "role " << quoted(stays_away.getSymName()) << " never comes to the cluster's barrier, which counts every thread of the cluster, and role "
                                  << quoted(comes.getSymName()) << " does; use k.cluster_barrier(...) between roles";
}

}  // namespace

LogicalResult check_clusters(tile::KernelOp kernel) {
  auto launch = plan_launch(kernel);
  int size = launch.cluster_size();
  bool positive = llvm::all_of(launch.cluster, [](int extent) { return extent > 0; });
  if (!positive || size > target::kMaxClusterSize)
    return kernel.emitOpError() << quoted(kernel.getSymName()) << " has clusters of " << launch.cluster[0] << " x " << launch.cluster[1] << " x "
                                << launch.cluster[2] << " CTAs; expected 1 to " << target::kMaxClusterSize << " together";
  WalkResult result = kernel.walk([&](Operation* op) {
    if (!needs_cluster(op)) return WalkResult::advance();
    if (size == 1) {
      op->emitOpError("needs a cluster of several CTAs; call k.cluster(...) first");
      return WalkResult::interrupt();
    }
    auto load = dyn_cast<tile::TmaLoadOp>(op);
    return load && failed(check_part(load, size)) ? WalkResult::interrupt() : WalkResult::advance();
  });
  if (result.wasInterrupted()) return failure();
  return check_arrivals(kernel);
}

}  // namespace tilewright::verify
