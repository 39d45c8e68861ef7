// Clusters of CTAs.
#include "compiler/dsl/Operations.h"

using namespace mlir;

namespace tilewright::dsl {

namespace {

void cluster(Recording& r, Arguments& a) {
  r.in_kernel("a cluster");
  SmallVector<int32_t> extents;
  for (int64_t extent : a.integers()) extents.push_back(static_cast<int32_t>(r.i32(extent).getInt()));
  r.kernel->setAttr("cluster", r.ops.getDenseI32ArrayAttr(extents));
}
void cluster_rank(Recording& r, Arguments& a) { a.result(r.make<tile::ClusterRankOp>(r.ops.getI32Type())); }
template <class Op>
void barrier(Recording& r, Arguments&) {
  r.in_role("the cluster's barrier");
  r.make<Op>();
}
/// Makes a barrier count in every CTA of the cluster.
void barrier_of_cluster(Recording& r, Arguments& a) {
  auto barrier = a.value().getDefiningOp<tile::BarrierOp>();
  if (!barrier) r.fail("what counts in every CTA of a cluster is a barrier");
  barrier.setCluster(true);
}

void tma_multicast(Recording& r, Arguments& a) {
  r.in_role("tma_multicast");
  const Value tile = a.value(), ring = a.value(), stage = a.value(), tensor = a.value();
  const auto coords = a.list(), ragged = a.list();
  auto load = r.make<tile::TmaLoadOp>(tensor, coords, ragged, tile, ring, stage, a.integers());
  load.setMulticast(true);
  r.check(load);
}
void remote_read(Recording& r, Arguments& a) {
  r.in_role("a read of another CTA");
  const Value tile = a.value(), row = a.value(), column = a.value(), rank = a.value();
  const Type element = r.typed<tile::SharedType>(tile, "a tile").getElementType();
  a.result(r.checked(r.make<tile::RemoteReadOp>(element.isInteger(32) ? element : r.ops.getF32Type(), tile, row, column, rank)));
}
void remote_write(Recording& r, Arguments& a) {
  r.in_role("a write to another CTA");
  const Value value = a.value(), tile = a.value(), row = a.value(), column = a.value(), rank = a.value();
  r.check(r.make<tile::RemoteWriteOp>(value, tile, row, column, rank));
}

}  // namespace

void add_clusters(Handlers& h) {
  h["cluster"] = cluster;
  h["cluster_rank"] = cluster_rank;
  h["cluster_arrive"] = barrier<tile::ClusterArriveOp>;
  h["cluster_wait"] = barrier<tile::ClusterWaitOp>;
  h["barrier_of_cluster"] = barrier_of_cluster;
  h["tma_multicast"] = tma_multicast;
  h["remote_read"] = remote_read;
  h["remote_write"] = remote_write;
}

}  // namespace tilewright::dsl
