#ifndef TILEWRIGHT_HOPPER_CONTROL_OPS
#define TILEWRIGHT_HOPPER_CONTROL_OPS
include "dialect/hopper/HopperBase.td"

//===---- special registers ----------------------------------------------------------------------------------===//

def Hopper_ThreadIdOp : Hopper_TextOp<"thread_id", "mov.u32 #out, %tid.x;", [Pure]> {
  let summary = "Index of the thread in its CTA (%tid.x)";
  let description = "Example: `%t = hopper.thread_id`";
  let results = (outs I32:$result);
  let assemblyFormat = "attr-dict";
}

def Hopper_CtaIdOp : Hopper_PtxOp<"cta_id", [], [Pure]> {
  let summary = "Index of the CTA in the grid along `dim` (%ctaid)";
  let description = "Example: `%x = hopper.cta_id {dim = 0 : i32}`. `dim` is 0, 1 or 2 for x, y, z.";
  let arguments = (ins I32Attr:$dim);
  let results = (outs I32:$result);
  let assemblyFormat = "attr-dict";
  let hasVerifier = 1;
}

def Hopper_GridDimOp : Hopper_PtxOp<"grid_dim", [], [Pure]> {
  let summary = "CTAs of the grid along `dim` (%nctaid)";
  let description = "Example: `%n = hopper.grid_dim {dim = 0 : i32}`. `dim` is 0, 1 or 2 for x, y, z.";
  let arguments = (ins I32Attr:$dim);
  let results = (outs I32:$result);
  let assemblyFormat = "attr-dict";
  let hasVerifier = 1;
}

def Hopper_ClockOp : Hopper_RegisterTextOp<"clock", "mov.u32 #out, %clock;"> {
  let summary = "The SM's cycle counter, 32 bits (%clock)";
  let description = "Example: `%c = hopper.clock`. Not Pure: every call reads anew.";
  let results = (outs I32:$result);
  let assemblyFormat = "attr-dict";
}

def Hopper_GlobalTimerOp : Hopper_RegisterTextOp<"globaltimer", "mov.u64 #out, %globaltimer;"> {
  let summary = "Nanoseconds of the whole device (%globaltimer)";
  let description = "Example: `%ns = hopper.globaltimer`. Not Pure: every call reads anew.";
  let results = (outs I64:$result);
  let assemblyFormat = "attr-dict";
}

def Hopper_SharedBaseOp : Hopper_Op<"shared_base", [Pure]> {
  let summary = "Address of the kernel's dynamic shared memory in the shared window";
  let description = [{
    The address of `tilewright_dyn_smem`, an extern shared array aligned to 1024 bytes that the conversion declares
    in the module. No PTX of its own: it becomes the address of a symbol. Example: `%base = hopper.shared_base`
  }];
  let results = (outs I32:$result);
  let assemblyFormat = "attr-dict";
}

//===---- warps ----------------------------------------------------------------------------------------------===//

def Hopper_ElectOp : Hopper_RegisterTextOp<"elect", "elect.sync _|#out, 0xffffffff;"> {
  let summary = "True in one lane of the warp (elect.sync)";
  let description = [{
    All 32 lanes must be converged here. Example: `%one = hopper.elect`
  }];
  let results = (outs I1:$result);
  let assemblyFormat = "attr-dict";
}

def Hopper_UniformOp : Hopper_RegisterTextOp<"uniform", "shfl.sync.idx.b32 #out, #0, 0, 31, 0xffffffff;"> {
  let summary = "Lane 0's value in every lane, so that ptxas knows it to be the same in the warp";
  let description = "All 32 lanes must be converged here. Example: `%u = hopper.uniform %x`";
  let arguments = (ins I32:$value);
  let results = (outs I32:$result);
  let assemblyFormat = "$value attr-dict";
}

def Hopper_ShuffleOp : Hopper_PtxOp<"shuffle", ["ordersMemory"], [AllTypesMatch<["value", "result"]>]> {
  let summary = "Exchange of one register between the lanes of a warp (shfl.sync, all lanes)";
  let description = [{
    `mode` says which lane a lane reads: "idx" the lane `lane`; "xor" its own index xor `lane`; "up" and "down" its own
    index minus or plus `lane` (its own value where that leaves the warp). All 32 lanes must be converged.
    Example: `%y = hopper.shuffle %x, %c16 {mode = "xor"} : f32`
  }];
  let arguments = (ins Hopper_Value:$value, I32:$lane, StrAttr:$mode);
  let results = (outs Hopper_Value:$result);
  let assemblyFormat = "$value `,` $lane attr-dict `:` type($value)";
  let hasVerifier = 1;
  let extraClassDefinition = "bool $cppClass::ordersMemory() { return false; }";
}

def Hopper_WarpBarrierOp : Hopper_TextOp<"warp_barrier", "bar.warp.sync 0xffffffff;"> {
  let summary = "Waits for all lanes of the warp and orders their memory accesses";
  let description = "Example: `hopper.warp_barrier`";
  let assemblyFormat = "attr-dict";
}

//===---- register budgets, grids ------------------------------------------------------------------------------===//

def Hopper_SetMaxNRegOp : Hopper_PtxOp<"setmaxnreg", ["ordersMemory"]> {
  let summary = "Changes the registers of each thread of the warpgroup (setmaxnreg)";
  let description = [{
    `count` is a multiple of 8 in 24..256. With `increase` the warpgroup waits until the pool has them, without it
    gives the rest back. Every warp of the warpgroup executes it. Example: `hopper.setmaxnreg {count = 40 : i32}`
  }];
  let arguments = (ins I32Attr:$count, UnitAttr:$increase);
  let assemblyFormat = "attr-dict";
  let hasVerifier = 1;
  let extraClassDefinition = "bool $cppClass::ordersMemory() { return false; }";
}

def Hopper_GridWaitOp : Hopper_TextOp<"grid_wait", "griddepcontrol.wait;"> {
  let summary = "Waits until the kernels this one depends on have finished and their writes are visible";
  let description = "Programmatic dependent launch. Example: `hopper.grid_wait`";
  let assemblyFormat = "attr-dict";
}

def Hopper_GridLaunchOp : Hopper_TextOp<"grid_launch", "griddepcontrol.launch_dependents;"> {
  let summary = "Lets the kernels that depend on this one start once every CTA has said so or ended";
  let description = "Programmatic dependent launch. Example: `hopper.grid_launch`";
  let assemblyFormat = "attr-dict";
}

def Hopper_TrapOp : Hopper_TextOp<"trap", "trap;"> {
  let summary = "Ends the kernel with an error";
  let description = [{
    A divergent trap while a wgmma is in flight makes ptxas serialise every wgmma. Example: `hopper.trap`
  }];
  let assemblyFormat = "attr-dict";
}
#endif
