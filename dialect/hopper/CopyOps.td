#ifndef TILEWRIGHT_HOPPER_COPY_OPS
#define TILEWRIGHT_HOPPER_COPY_OPS
include "dialect/hopper/HopperBase.td"

def Hopper_TmaLoadOp : Hopper_PtxOp<"tma_load"> {
  let summary = "Copies a box of a tensor into shared memory; the bytes are counted on an mbarrier";
  let description = [{
    `map` is the address of the tensor map, `coords` the box's first element, innermost coordinate first (1 to 5).
    One thread issues it. Lowering: cp.async.bulk.tensor, completion mbarrier::complete_tx::bytes.
    Example: `hopper.tma_load %map, %dst, %full, %x, %y`
  }];
  let arguments = (ins Hopper_Pointer:$map, I32:$dst, I32:$mbar, Variadic<I32>:$coords);
  let assemblyFormat = "$map `,` $dst `,` $mbar `,` $coords attr-dict";
  let hasVerifier = 1;
}

def Hopper_TmaStoreOp : Hopper_PtxOp<"tma_store"> {
  let summary = "Copies a box from shared memory into a tensor; completion by bulk group";
  let description = [{
    The writes to `src` need fence_proxy_async before. bulk_commit and bulk_wait follow.
    Example: `hopper.tma_store %map, %src, %x, %y`
  }];
  let arguments = (ins Hopper_Pointer:$map, I32:$src, Variadic<I32>:$coords);
  let assemblyFormat = "$map `,` $src `,` $coords attr-dict";
  let hasVerifier = 1;
}

def Hopper_TmaReduceAddOp : Hopper_PtxOp<"tma_reduce_add"> {
  let summary = "Adds a box from shared memory to a tensor; completion by bulk group";
  let description = "As tma_store. Example: `hopper.tma_reduce_add %map, %src, %x, %y`";
  let arguments = (ins Hopper_Pointer:$map, I32:$src, Variadic<I32>:$coords);
  let assemblyFormat = "$map `,` $src `,` $coords attr-dict";
  let hasVerifier = 1;
}

def Hopper_TmaPrefetchOp : Hopper_TextOp<"tma_prefetch", "prefetch.tensormap [#0];"> {
  let summary = "Brings a tensor map into the cache";
  let description = "Example: `hopper.tma_prefetch %map`";
  let arguments = (ins Hopper_Pointer:$map);
  let assemblyFormat = "$map attr-dict";
}

def Hopper_BulkLoadOp : Hopper_TextOp<"bulk_load", [{{
.reg .u64 address;
cvta.to.global.u64 address, #1;
cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [#0], [address], #2, [#3];
}
}]> {
  let summary = "Copies contiguous global memory into shared memory; the bytes are counted on an mbarrier";
  let description = [{
    Addresses and `bytes` are multiples of 16. Example: `hopper.bulk_load %dst, %src, %bytes, %full`
  }];
  let arguments = (ins I32:$dst, Hopper_Pointer:$src, I32:$bytes, I32:$mbar);
  let assemblyFormat = "$dst `,` $src `,` $bytes `,` $mbar attr-dict";
}

def Hopper_BulkCommitOp : Hopper_TextOp<"bulk_commit", "cp.async.bulk.commit_group;"> {
  let summary = "Closes the thread's bulk group: the stores issued since the last one";
  let description = "Example: `hopper.bulk_commit`";
  let assemblyFormat = "attr-dict";
}

def Hopper_BulkWaitOp : Hopper_PtxOp<"bulk_wait"> {
  let summary = "Waits until at most `count` of the thread's newest bulk groups are pending";
  let description = [{
    With `read` only until their shared memory has been read and may be overwritten.
    Example: `hopper.bulk_wait {count = 0 : i32, read}`
  }];
  let arguments = (ins I32Attr:$count, UnitAttr:$read);
  let assemblyFormat = "attr-dict";
  let hasVerifier = 1;
}

//===---- matrices between registers and shared memory -------------------------------------------------------===//

def Hopper_LdMatrixOp : Hopper_PtxOp<"ldmatrix", [], [InferTypeOpAdaptor]> {
  let summary = "Loads `count` (1, 2 or 4) 8x8 matrices of 16-bit elements, one register each";
  let description = [{
    Lane i gives the address of row i % 8 of matrix i / 8; rows are 16 bytes. With `trans` each matrix arrives
    transposed. `offset` bytes are added to the address. Example: `%r:4 = hopper.ldmatrix %addr {count = 4 : i32, trans}`
  }];
  let arguments = (ins I32:$addr, I32Attr:$count, UnitAttr:$trans, DefaultValuedAttr<I32Attr, "0">:$offset);
  let results = (outs Variadic<I32>:$result);
  let assemblyFormat = "$addr attr-dict";
  let hasVerifier = 1;
}

def Hopper_StMatrixOp : Hopper_PtxOp<"stmatrix"> {
  let summary = "Stores 1, 2 or 4 8x8 matrices of 16-bit elements, one register each";
  let description = "Addresses as in ldmatrix. Example: `hopper.stmatrix %addr, %r0, %r1 {trans}`";
  let arguments = (ins I32:$addr, Variadic<I32>:$regs, UnitAttr:$trans, DefaultValuedAttr<I32Attr, "0">:$offset);
  let assemblyFormat = "$addr `,` $regs attr-dict";
  let hasVerifier = 1;
}

def Hopper_RedAddOp : Hopper_PtxOp<"red_add"> {
  let summary = "Adds a value to global memory atomically, without reading it back";
  let description = "Relaxed, device scope. Example: `hopper.red_add %p, %x : f32`";
  let arguments = (ins Hopper_Pointer:$addr, Hopper_Value:$value);
  let assemblyFormat = "$addr `,` $value attr-dict `:` type($value)";
}
#endif
