#ifndef TILEWRIGHT_HOPPER_TRACE_OPS
#define TILEWRIGHT_HOPPER_TRACE_OPS
include "dialect/hopper/HopperBase.td"

def Hopper_TraceBaseOp : Hopper_Op<"trace_base", [Pure]> {
  let summary = "Address of the kernel's time stamps in global memory";
  let description = [{
    The address of `tilewright_trace`, a variable of `bytes` bytes, zero at first, that the conversion declares in the module. No PTX
    of its own. Example: `%base = hopper.trace_base {bytes = 1040 : i32}`
  }];
  let arguments = (ins I32Attr:$bytes);
  let results = (outs I64:$result);
  let assemblyFormat = "attr-dict";
}

def Hopper_StampOp : Hopper_PtxOp<"stamp", ["ordersMemory"]> {
  let summary = "Notes the SM's cycle counter at `place` and gives the next place; nothing where `place` is not below `end`";
  let description = [{
    A stamp is 8 bytes: `id`, then the low 32 bits of the counter. Example: `%next = hopper.stamp %place, %end {id = 3 : i32}`
  }];
  let arguments = (ins I64:$place, I64:$end, I32Attr:$id);
  let results = (outs I64:$next);
  let assemblyFormat = "$place `,` $end attr-dict";
  let extraClassDefinition = "bool $cppClass::ordersMemory() { return false; }";
}
#endif
