#ifndef TILEWRIGHT_HOPPER_BARRIER_OPS
#define TILEWRIGHT_HOPPER_BARRIER_OPS
include "dialect/hopper/HopperBase.td"

def Hopper_CtaBarrierOp : Hopper_TextOp<"cta_barrier", "bar.sync 0;"> {
  let summary = "Waits for all threads of the CTA";
  let description = "Example: `hopper.cta_barrier`";
  let assemblyFormat = "attr-dict";
}

def Hopper_NamedBarrierOp : Hopper_PtxOp<"named_barrier"> {
  let summary = "Waits until `threads` threads have come to barrier `id` (bar.sync)";
  let description = [{
    `id` is 1..15 (0 is the CTA's own), `threads` a multiple of 32.
    Example: `hopper.named_barrier {id = 1 : i32, threads = 128 : i32}`
  }];
  let arguments = (ins I32Attr:$id, I32Attr:$threads);
  let assemblyFormat = "attr-dict";
  let hasVerifier = 1;
}

//===---- mbarriers: 8 bytes of shared memory, 8-byte aligned ------------------------------------------------===//

def Hopper_MbarrierInitOp : Hopper_PtxOp<"mbarrier_init"> {
  let summary = "Makes the 8 bytes at `addr` an mbarrier whose phases complete after `count` arrivals";
  let description = "By one thread; fence_mbarrier_init follows. Example: `hopper.mbarrier_init %a {count = 1 : i32}`";
  let arguments = (ins I32:$addr, I32Attr:$count);
  let assemblyFormat = "$addr attr-dict";
  let hasVerifier = 1;
}

def Hopper_FenceMbarrierInitOp : Hopper_TextOp<"fence_mbarrier_init", "fence.mbarrier_init.release.cluster;"> {
  let summary = "Makes initialised mbarriers visible to the asynchronous copies";
  let description = "Example: `hopper.fence_mbarrier_init`";
  let assemblyFormat = "attr-dict";
}

def Hopper_MbarrierArriveOp : Hopper_PtxOp<"mbarrier_arrive"> {
  let summary = "One arrival, of the threads where `when` holds; orders what the thread did before it";
  let description = [{
    A predicate and no branch: in a loop inside of another, ptxas keeps nothing in uniform registers around a branch that lanes take differently.
    Example: `hopper.mbarrier_arrive %empty when %first_lane`
  }];
  let arguments = (ins I32:$addr, Optional<I1>:$when);
  let assemblyFormat = "$addr (`when` $when^)? attr-dict";
}

def Hopper_MbarrierExpectOp : Hopper_PtxOp<"mbarrier_expect"> {
  let summary = "One arrival that also tells the phase to expect `bytes` from asynchronous copies";
  let description = "Example: `hopper.mbarrier_expect %full {bytes = 16384 : i32}`";
  let arguments = (ins I32:$addr, I32Attr:$bytes);
  let assemblyFormat = "$addr attr-dict";
  let hasVerifier = 1;
}

def Hopper_MbarrierExpectDynOp
    : Hopper_TextOp<"mbarrier_expect_dyn", "mbarrier.arrive.expect_tx.shared::cta.b64 _, [#0], #1;"> {
  let summary = "mbarrier_expect with a run-time number of bytes";
  let description = "Example: `hopper.mbarrier_expect_dyn %full, %bytes`";
  let arguments = (ins I32:$addr, I32:$bytes);
  let assemblyFormat = "$addr `,` $bytes attr-dict";
}

def Hopper_MbarrierWaitOp : Hopper_TextOp<"mbarrier_wait", [{{
.reg .pred done;
WAIT_#uid:
mbarrier.try_wait.parity.shared::cta.b64 done, [#0], #1;
@done bra DONE_#uid;
bra WAIT_#uid;
DONE_#uid:
}
}]> {
  let summary = "Waits until the phase of parity `parity` (0 or 1) has completed";
  let description = [{
    A fresh mbarrier counts as having completed its phase of parity 1. What the arrivals and the asynchronous copies
    of the phase wrote is visible afterwards. Example: `hopper.mbarrier_wait %full, %phase`
  }];
  let arguments = (ins I32:$addr, I32:$parity);
  let assemblyFormat = "$addr `,` $parity attr-dict";
}

def Hopper_FenceProxyAsyncOp : Hopper_TextOp<"fence_proxy_async", "fence.proxy.async.shared::cta;"> {
  let summary = "Orders plain shared-memory accesses of the thread before later ones by TMA and wgmma";
  let description = "Example: `hopper.fence_proxy_async`";
  let assemblyFormat = "attr-dict";
}
#endif
