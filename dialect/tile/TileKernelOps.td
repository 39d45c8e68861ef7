#ifndef TILEWRIGHT_DIALECT_TILE_KERNEL_OPS
#define TILEWRIGHT_DIALECT_TILE_KERNEL_OPS

include "dialect/tile/TileDialect.td"

def Tile_KernelOp : Tile_Op<"kernel", [IsolatedFromAbove, SingleBlock, NoTerminator]> {
  let summary = "one kernel: parameters, allocations, rings and roles";
  let description = [{
    Block arguments are the kernel's parameters in order: tensors and scalars. `param_names` names
    them. `dims` lists run-time extents (each an i32 argument after the parameters), `grid` holds
    three extent expressions (integers, names or nested ["ceildiv"|"mul"|"add"|"sub"|"max", a, b]).

    *Precondition*: every role is a direct child. *Lowering*: an `llvm.func` with `nvvm.kernel` and
    `nvvm.reqntid`.

    ```mlir
    tile.kernel "copy" params ["x", "n"] {
    ^bb0(%x: !tile.tensor<?xf32>, %n: i32):
    }
    ```
  }];
  let arguments = (ins StrAttr:$sym_name, ArrayAttr:$param_names, OptionalAttr<ArrayAttr>:$shapes,
                       OptionalAttr<ArrayAttr>:$grid, OptionalAttr<ArrayAttr>:$allow);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = "$sym_name `params` $param_names attr-dict-with-keyword $body";
  let hasVerifier = 1;
}

def Tile_RoleOp : Tile_Op<"role", [SingleBlock, NoTerminator, HasParent<"KernelOp">]> {
  let summary = "code that runs concurrently with its sibling roles";
  let description = [{
    `warps` warps (a multiple of 4 for whole warpgroups) execute the body; with `single_thread` one
    elected thread of the one warp does. `registers` is the setmaxnreg budget of each thread, 0 for none.
    *Precondition*: budgets are multiples of 8 and fit the launch's pool. *Lowering*: a branch on the
    warp index. 

    ```mlir
    tile.role "load" warps 1 {single_thread} { }
    ```
  }];
  let arguments = (ins StrAttr:$sym_name, I32Attr:$warps, DefaultValuedAttr<I32Attr, "0">:$registers,
                       UnitAttr:$single_thread);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = "$sym_name `warps` $warps attr-dict-with-keyword $body";
  let hasVerifier = 1;
}

def Tile_SharedOp : Tile_Op<"shared"> {
  let summary = "a named tile in shared memory, `stages` times";
  let description = [{
    `layout` (`"row_major"` or `"swizzle128"`) and `offset` (bytes) are filled in by
    `tile-infer-layouts` and `tile-plan-shared`; `pad` adds bytes to each row of a row-major tile; `overlay` names a tile
    whose memory this one takes over (the author orders the uses). With `deferred` its writers do not fence; its asynchronous readers do.
  }];
  let arguments = (ins StrAttr:$sym_name, DefaultValuedAttr<I32Attr, "1">:$stages,
                       DefaultValuedAttr<I32Attr, "0">:$pad, OptionalAttr<StrAttr>:$overlay, OptionalAttr<StrAttr>:$layout,
                       OptionalAttr<I32Attr>:$offset, UnitAttr:$deferred);
  let results = (outs Tile_SharedType:$tile);
  let assemblyFormat = "$sym_name attr-dict `:` type($tile)";
  let hasVerifier = 1;
}

def Tile_FragOp : Tile_Op<"frag"> {
  let summary = "a register fragment slot of the enclosing role";
  let arguments = (ins OptionalAttr<StrAttr>:$sym_name);
  let results = (outs Tile_FragType:$frag);
  let assemblyFormat = "attr-dict `:` type($frag)";
  let hasVerifier = 1;
}

def Tile_VarOp : Tile_Op<"var"> {
  let summary = "a mutable scalar with its first value";
  let arguments = (ins AnyType:$init);
  let results = (outs Tile_VarType:$var);
  let assemblyFormat = "$init attr-dict `:` type($init) `->` type($var)";
}
def Tile_GetOp : Tile_Op<"get"> {
  let summary = "reads a mutable scalar";
  let arguments = (ins Tile_VarType:$var);
  let results = (outs AnyType:$value);
  let assemblyFormat = "$var attr-dict `:` type($var) `->` type($value)";
}
def Tile_SetOp : Tile_Op<"set"> {
  let summary = "writes a mutable scalar";
  let arguments = (ins Tile_VarType:$var, AnyType:$value);
  let assemblyFormat = "$value `,` $var attr-dict `:` type($value) `,` type($var)";
}

class Tile_IndexOp<string mnemonic, string what> : Tile_Op<mnemonic, [Pure]> {
  let summary = what;
  let results = (outs I32:$value);
  let assemblyFormat = "attr-dict";
}
def Tile_BlockIndexOp : Tile_Op<"block_index", [Pure]> {
  let summary = "index of this CTA along a grid dimension";
  let arguments = (ins I32Attr:$dim);
  let results = (outs I32:$value);
  let assemblyFormat = "$dim attr-dict";
}
def Tile_ThreadOp : Tile_IndexOp<"thread", "index of this thread in its role">;
def Tile_LaneOp : Tile_IndexOp<"lane", "index of this thread in its warp">;
def Tile_WarpOp : Tile_IndexOp<"warp", "index of this warp in its role (uniform)">;
def Tile_UniformOp : Tile_Op<"uniform", [Pure]> {
  let summary = "lane 0's value, for a value that is the same in all lanes but not known to be";
  let arguments = (ins I32:$value);
  let results = (outs I32:$result);
  let assemblyFormat = "$value attr-dict";
}
def Tile_ShuffleOp : Tile_Op<"shuffle", [AllTypesMatch<["value", "result"]>]> {
  let summary = "a value of another lane of the warp (`mode`: up, xor, idx)";
  let arguments = (ins AnyTypeOf<[F32, I32]>:$value, I32:$lane, StrAttr:$mode);
  let results = (outs AnyTypeOf<[F32, I32]>:$result);
  let assemblyFormat = "$mode $value `,` $lane attr-dict `:` type($value)";
}
def Tile_Exp2Op : Tile_Op<"exp2", [Pure, SameOperandsAndResultType]> {
  let summary = "2^x, to 2 ulp, subnormals flushed";
  let arguments = (ins F32:$x);
  let results = (outs F32:$y);
  let assemblyFormat = "$x attr-dict";
}
def Tile_Log2Op : Tile_Op<"log2", [Pure, SameOperandsAndResultType]> {
  let summary = "base-2 logarithm, approximate";
  let arguments = (ins F32:$x);
  let results = (outs F32:$y);
  let assemblyFormat = "$x attr-dict";
}
def Tile_RcpOp : Tile_Op<"rcp", [Pure, SameOperandsAndResultType]> {
  let summary = "1/x, approximate";
  let arguments = (ins F32:$x);
  let results = (outs F32:$y);
  let assemblyFormat = "$x attr-dict";
}
def Tile_YieldOp : Tile_Op<"yield", [Pure, Terminator]> {
  let summary = "the elements that a map computes";
  let arguments = (ins Variadic<AnyType>:$values);
  let assemblyFormat = "($values^ `:` type($values))? attr-dict";
}

#endif
