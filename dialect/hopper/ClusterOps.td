#ifndef TILEWRIGHT_HOPPER_CLUSTER_OPS
#define TILEWRIGHT_HOPPER_CLUSTER_OPS
include "dialect/hopper/HopperBase.td"

def Hopper_NamedBarrierArriveOp : Hopper_PtxOp<"named_barrier_arrive"> {
  let summary = "Counts the warp's threads at barrier `id` without waiting (bar.arrive)";
  let description = "As named_barrier. Example: `hopper.named_barrier_arrive {id = 1 : i32, threads = 128 : i32}`";
  let arguments = (ins I32Attr:$id, I32Attr:$threads);
  let assemblyFormat = "attr-dict";
  let hasVerifier = 1;
}

def Hopper_ClusterRankOp : Hopper_TextOp<"cluster_rank", "mov.u32 #out, %cluster_ctarank;", [Pure]> {
  let summary = "Rank of the CTA in its cluster, x first (%cluster_ctarank)";
  let description = "Example: `%r = hopper.cluster_rank`";
  let results = (outs I32:$result);
  let assemblyFormat = "attr-dict";
}
def Hopper_ClusterIdOp : Hopper_PtxOp<"cluster_id", [], [Pure]> {
  let summary = "Index of the CTA's cluster along `dim`, in clusters (%clusterid)";
  let description = "Example: `%x = hopper.cluster_id {dim = 0 : i32}`. `dim` is 0, 1 or 2 for x, y, z.";
  let arguments = (ins I32Attr:$dim);
  let results = (outs I32:$result);
  let assemblyFormat = "attr-dict";
  let hasVerifier = 1;
}
def Hopper_ClusterArriveOp : Hopper_TextOp<"cluster_arrive", "barrier.cluster.arrive.release;"> {
  let summary = "Arrives at the cluster's barrier, which counts every thread of the cluster; cluster_wait follows";
  let description = "Example: `hopper.cluster_arrive`";
  let assemblyFormat = "attr-dict";
}
def Hopper_ClusterWaitOp : Hopper_TextOp<"cluster_wait", "barrier.cluster.wait.acquire;"> {
  let summary = "Waits until every thread of the cluster has arrived";
  let description = "Example: `hopper.cluster_wait`";
  let assemblyFormat = "attr-dict";
}

def Hopper_MapSharedOp : Hopper_TextOp<"map_shared", "mapa.shared::cluster.u32 #out, #0, #1;", [Pure]> {
  let summary = "Address of the same place in the shared memory of the cluster's CTA `rank` (mapa)";
  let description = "For the ops of shared::cluster only. Example: `%there = hopper.map_shared %addr, %rank`";
  let arguments = (ins I32:$addr, I32:$rank);
  let results = (outs I32:$result);
  let assemblyFormat = "$addr `,` $rank attr-dict";
}
def Hopper_LoadRemoteOp : Hopper_TextOp<"load_remote", "ld.shared::cluster.b32 #out, [#0];"> {
  let summary = "Loads 32 bits from a CTA of the cluster";
  let description = "Example: `%v = hopper.load_remote %there : f32`";
  let arguments = (ins I32:$addr);
  let results = (outs Hopper_Value:$result);
  let assemblyFormat = "$addr attr-dict `:` type($result)";
}
def Hopper_StoreRemoteOp : Hopper_TextOp<"store_remote", "st.shared::cluster.b32 [#0], #1;"> {
  let summary = "Stores 32 bits to a CTA of the cluster";
  let description = "Example: `hopper.store_remote %there, %v : f32`";
  let arguments = (ins I32:$addr, Hopper_Value:$value);
  let assemblyFormat = "$addr `,` $value attr-dict `:` type($value)";
}
def Hopper_MbarrierArriveRemoteOp : Hopper_PtxOp<"mbarrier_arrive_remote"> {
  let summary = "One arrival at an mbarrier of a CTA of the cluster, of the threads where `when` holds; orders what the thread did before it";
  let description = [{
    `scope` is "cluster" where the thread's writes have to be seen by the other CTA, which costs a busy thread 1000 to 2000 cycles, and "cta" where it has only
    read what the other CTA may overwrite now. Example: `hopper.mbarrier_arrive_remote %there {scope = "cta"}`
  }];
  let arguments = (ins I32:$addr, Optional<I1>:$when, StrAttr:$scope);
  let assemblyFormat = "$addr (`when` $when^)? attr-dict";
  let hasVerifier = 1;
}
def Hopper_MbarrierWaitClusterOp : Hopper_TextOp<"mbarrier_wait_cluster", [{{
.reg .pred done;
WAIT_#uid:
mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 done, [#0], #1;
@done bra DONE_#uid;
bra WAIT_#uid;
DONE_#uid:
}
}]> {
  let summary = "mbarrier_wait for arrivals of other CTAs of the cluster";
  let description = "Example: `hopper.mbarrier_wait_cluster %empty, %phase`";
  let arguments = (ins I32:$addr, I32:$parity);
  let assemblyFormat = "$addr `,` $parity attr-dict";
}

def Hopper_TmaMulticastOp : Hopper_PtxOp<"tma_multicast"> {
  let summary = "tma_load into the same place of several CTAs of the cluster, counted on the mbarrier of each";
  let description = [{
    `ctas` has a bit for each rank. `dst` and `mbar` are addresses of the CTA itself.
    Example: `hopper.tma_multicast %map, %dst, %full, %x, %y {ctas = 3 : i32}`
  }];
  let arguments = (ins Hopper_Pointer:$map, I32:$dst, I32:$mbar, Variadic<I32>:$coords, I32Attr:$ctas);
  let assemblyFormat = "$map `,` $dst `,` $mbar `,` $coords attr-dict";
  let hasVerifier = 1;
}
#endif
