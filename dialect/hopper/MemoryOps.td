#ifndef TILEWRIGHT_HOPPER_MEMORY_OPS
#define TILEWRIGHT_HOPPER_MEMORY_OPS
include "dialect/hopper/HopperBase.td"

/// An address in global memory.
def Hopper_GlobalPointer : Type<
    CPred<"::llvm::isa<::mlir::LLVM::LLVMPointerType>($_self) && "
          "::llvm::cast<::mlir::LLVM::LLVMPointerType>($_self).getAddressSpace() == 1">,
    "pointer to global memory (!llvm.ptr<1>)", "::mlir::LLVM::LLVMPointerType">,
  BuildableType<"::mlir::LLVM::LLVMPointerType::get($_builder.getContext(), 1)">;
def Hopper_Word : AnyTypeOf<[F32, I32, I64]>;
/// Global memory, or the i32 address of shared memory.
def Hopper_AnyAddress : AnyTypeOf<[Hopper_GlobalPointer, I32]>;

//===---- accesses that several threads make at once ---------------------------------------------------------===//

def Hopper_LoadStrongOp : Hopper_PtxOp<"load_strong"> {
  let summary = "Loads from global memory what another thread may write at the same time (ld.acquire, ld.relaxed)";
  let description = [{
    `order` is "acquire" (what the writer did before its release is visible afterwards) or "relaxed"; `scope` says how far
    away the writer may be: "cta", "cluster", "gpu" or "sys". Example: `%v = hopper.load_strong %p {order = "acquire", scope = "gpu"} : i32`
  }];
  let arguments = (ins Hopper_GlobalPointer:$addr, StrAttr:$order, StrAttr:$scope);
  let results = (outs Hopper_Word:$result);
  let assemblyFormat = "$addr attr-dict `:` type($result)";
  let hasVerifier = 1;
}

def Hopper_StoreStrongOp : Hopper_PtxOp<"store_strong"> {
  let summary = "Stores to global memory what another thread may read at the same time (st.release, st.relaxed)";
  let description = [{
    As load_strong; "release" makes what the thread did before visible to who acquires the value.
    Example: `hopper.store_strong %p, %v {order = "release", scope = "gpu"} : i32`
  }];
  let arguments = (ins Hopper_GlobalPointer:$addr, Hopper_Word:$value, StrAttr:$order, StrAttr:$scope);
  let assemblyFormat = "$addr `,` $value attr-dict `:` type($value)";
  let hasVerifier = 1;
}

def Hopper_FenceOp : Hopper_PtxOp<"fence"> {
  let summary = "Orders the thread's accesses before it against those after it, as seen in `scope` (fence.acq_rel)";
  let description = [{ Example: `hopper.fence {scope = "gpu"}` }];
  let arguments = (ins StrAttr:$scope);
  let assemblyFormat = "attr-dict";
  let hasVerifier = 1;
}

def Hopper_FenceProxyAsyncGlobalOp : Hopper_TextOp<"fence_proxy_async_global", "fence.proxy.async.global;"> {
  let summary = "Orders plain global-memory accesses of the thread before later ones by TMA";
  let description = "Example: `hopper.fence_proxy_async_global`";
  let assemblyFormat = "attr-dict";
}

def Hopper_SleepOp : Hopper_PtxOp<"sleep", ["ordersMemory"]> {
  let summary = "Leaves the execution units to other warps for about `nanoseconds` (nanosleep)";
  let description = "At most 1000000. Example: `hopper.sleep {nanoseconds = 64 : i32}`";
  let arguments = (ins I32Attr:$nanoseconds);
  let assemblyFormat = "attr-dict";
  let hasVerifier = 1;
  let extraClassDefinition = "bool $cppClass::ordersMemory() { return false; }";
}

//===---- atomics --------------------------------------------------------------------------------------------===//

def Hopper_AtomicOp : Hopper_PtxOp<"atomic", [], [AllTypesMatch<["value", "result"]>]> {
  let summary = "Combines a value with memory indivisibly and gives what was there (atom)";
  let description = [{
    `kind` is add, min, max, and, or, xor or exch (integers; f32 only add). `order` is "relaxed", "acquire", "release" or "acq_rel".
    Example: `%old = hopper.atomic %p, %v {kind = "add", order = "relaxed", scope = "gpu"} : !llvm.ptr<1>, i32`
  }];
  let arguments = (ins Hopper_AnyAddress:$addr, Hopper_Word:$value, StrAttr:$kind, StrAttr:$order, StrAttr:$scope);
  let results = (outs Hopper_Word:$result);
  let assemblyFormat = "$addr `,` $value attr-dict `:` type($addr) `,` type($value)";
  let hasVerifier = 1;
}

def Hopper_AtomicCasOp : Hopper_PtxOp<"atomic_cas", [], [AllTypesMatch<["compare", "value", "result"]>]> {
  let summary = "Replaces memory by `value` where it equals `compare`, indivisibly; gives what was there (atom.cas)";
  let description = [{
    Example: `%old = hopper.atomic_cas %p, %c, %v {order = "acq_rel", scope = "gpu"} : !llvm.ptr<1>, i32`
  }];
  let arguments = (ins Hopper_AnyAddress:$addr, AnyTypeOf<[I32, I64]>:$compare, AnyTypeOf<[I32, I64]>:$value, StrAttr:$order, StrAttr:$scope);
  let results = (outs AnyTypeOf<[I32, I64]>:$result);
  let assemblyFormat = "$addr `,` $compare `,` $value attr-dict `:` type($addr) `,` type($value)";
  let hasVerifier = 1;
}

def Hopper_ReduceOp : Hopper_PtxOp<"reduce"> {
  let summary = "Combines values with memory indivisibly, without reading it back (red)";
  let description = [{
    As atomic. Two or four f32 are added to neighbours in global memory at once; with `packed` ("bf16x2" or "f16x2") each i32 holds
    two elements. Example: `hopper.reduce %p, %x, %y {kind = "add", order = "relaxed", scope = "gpu"} : !llvm.ptr<1>, f32, f32`
  }];
  let arguments = (ins Hopper_AnyAddress:$addr, Variadic<Hopper_Word>:$values, StrAttr:$kind, StrAttr:$order, StrAttr:$scope,
                       OptionalAttr<StrAttr>:$packed);
  let assemblyFormat = "$addr `,` $values attr-dict `:` type($addr) `,` type($values)";
  let hasVerifier = 1;
}

//===---- copies ---------------------------------------------------------------------------------------------===//

def Hopper_CpAsyncOp : Hopper_TextOp<"cp_async", "cp.async.cg.shared.global [#0], [#1], 16, #2;"> {
  let summary = "Copies 16 bytes to shared memory; of them `bytes` are read, the rest is zero (cp.async)";
  let description = [{
    Both addresses are multiples of 16. Complete after a cp_async_wait of the thread or what cp_async_arrive signals. A write of the
    generic proxy: TMA and wgmma see it behind a fence_proxy_async. Example: `hopper.cp_async %dst, %src, %bytes`
  }];
  let arguments = (ins I32:$dst, Hopper_GlobalPointer:$src, I32:$bytes);
  let assemblyFormat = "$dst `,` $src `,` $bytes attr-dict";
}
def Hopper_CpAsyncArriveOp
    : Hopper_TextOp<"cp_async_arrive", "cp.async.mbarrier.arrive.noinc.shared::cta.b64 [#0];"> {
  let summary = "One arrival at an mbarrier, when the thread's cp_async so far are complete";
  let description = "Example: `hopper.cp_async_arrive %full`";
  let arguments = (ins I32:$addr);
  let assemblyFormat = "$addr attr-dict";
}
def Hopper_CpAsyncCommitOp : Hopper_TextOp<"cp_async_commit", "cp.async.commit_group;"> {
  let summary = "Closes the thread's group of cp_async";
  let description = "Example: `hopper.cp_async_commit`";
  let assemblyFormat = "attr-dict";
}
def Hopper_CpAsyncWaitOp : Hopper_PtxOp<"cp_async_wait"> {
  let summary = "Waits until at most `count` of the thread's newest groups of cp_async are pending";
  let description = "Example: `hopper.cp_async_wait {count = 0 : i32}`";
  let arguments = (ins I32Attr:$count);
  let assemblyFormat = "attr-dict";
  let hasVerifier = 1;
}
def Hopper_BulkStoreOp
    : Hopper_TextOp<"bulk_store", "cp.async.bulk.global.shared::cta.bulk_group [#1], [#0], #2;"> {
  let summary = "Copies contiguous shared memory to global memory; completion by bulk group";
  let description = [{
    Addresses and `bytes` are multiples of 16; the writes to `src` need fence_proxy_async before. Example: `hopper.bulk_store %src, %dst, %bytes`
  }];
  let arguments = (ins I32:$src, Hopper_GlobalPointer:$dst, I32:$bytes);
  let assemblyFormat = "$src `,` $dst `,` $bytes attr-dict";
}
def Hopper_BulkFetchOp
    : Hopper_TextOp<"bulk_fetch", "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [#0], [#1], #2, [#3];"> {
  let summary = "bulk_load from a pointer to global memory";
  let description = "Example: `hopper.bulk_fetch %dst, %src, %bytes, %full`";
  let arguments = (ins I32:$dst, Hopper_GlobalPointer:$src, I32:$bytes, I32:$mbar);
  let assemblyFormat = "$dst `,` $src `,` $bytes `,` $mbar attr-dict";
}

//===---- the author's own PTX ---------------------------------------------------------------------------------===//

def Hopper_RawPtxOp : Hopper_PtxOp<"ptx"> {
  let summary = "PTX text as the author wrote it";
  let description = [{
    `#0`, `#1` are the inputs, `#out0`, `#out1` the results, `#uid` a number unique to the place (for labels).
    Example: `%y = hopper.ptx "popc.b32 #out0, #0;" (%x) : (i32) -> i32`
  }];
  let arguments = (ins StrAttr:$text, Variadic<AnyTypeOf<[F32, I32, I64, I1]>>:$inputs);
  let results = (outs Variadic<AnyTypeOf<[F32, I32, I64, I1]>>:$outputs);
  let assemblyFormat = "$text `(` $inputs `)` attr-dict `:` functional-type($inputs, $outputs)";
}
#endif
