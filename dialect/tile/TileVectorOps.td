#ifndef TILEWRIGHT_DIALECT_TILE_VECTOR_OPS
#define TILEWRIGHT_DIALECT_TILE_VECTOR_OPS

include "dialect/tile/TileDialect.td"

//===---- parts of fragments, sums along them, scalar functions ----------------------------------------------===//

def Tile_FragViewOp : Tile_Op<"frag_view", [Pure]> {
  let summary = "columns `column`.. of a fragment, as a fragment: the same registers under another name";
  let description = [{
    All rows; `column` and the number of columns are multiples of 8. The view is an accumulator, an operand or a part of a
    map like any fragment. Example: `%v = tile.frag_view %f 32 : <64x128xf32> -> <64x16xf32>`
  }];
  let arguments = (ins Tile_FragType:$frag, I32Attr:$column);
  let results = (outs Tile_FragType:$result);
  let assemblyFormat = "$frag $column attr-dict `:` type($frag) `->` type($result)";
  let hasVerifier = 1;
}
def Tile_ReduceOp : Tile_Op<"reduce"> {
  let summary = "reduces [R, C] along the columns into [R, 1], or the 16 rows of each warp into [1, C] (`kind`: add, max, min)";
  let description = [{
    Every lane that holds an element of the result gets it. A result [1, C] is the warp's own: for R > 16 the warps' parts are
    still to be combined. *Lowering*: two shuffles for a row, three for a column.
  }];
  let arguments = (ins Tile_FragType:$input, Tile_FragType:$output, StrAttr:$kind);
  let assemblyFormat = "$kind $input `->` $output attr-dict `:` type($input) `,` type($output)";
  let hasVerifier = 1;
}
def Tile_ScanOp : Tile_Op<"scan"> {
  let summary = "running sums along the columns of every row, or, with `down`, along the 16 rows of each warp (`kind`: add, max, min)";
  let description = [{
    Element i of a row gets the combination of elements 0..i, with `exclusive` of 0..i-1 (the first gets the identity: 0, or
    minus or plus infinity), with `reverse` of i..last or i+1..last. Input and output may be one fragment.
    *Lowering*: two shuffles for 8 columns of a row, three for 8 rows of a column.
    Example: `tile.scan "add" %x -> %y {exclusive} : <1x64xf32>`
  }];
  let arguments = (ins Tile_FragType:$input, Tile_FragType:$output, StrAttr:$kind, UnitAttr:$down, UnitAttr:$exclusive, UnitAttr:$reverse);
  let assemblyFormat = "$kind $input `->` $output attr-dict `:` type($input) `,` type($output)";
  let hasVerifier = 1;
}

def Tile_MathOp : Tile_Op<"math", [Pure, SameOperandsAndResultType]> {
  let summary = "a function of one fp32 number: sqrt, rsqrt and tanh (approximate), abs and floor (exact)";
  let description = [{ Subnormals count as 0 in sqrt and rsqrt; tanh is to 2^-11. Example: `%y = tile.math "rsqrt" %x` }];
  let arguments = (ins StrAttr:$function, F32:$x);
  let results = (outs F32:$y);
  let assemblyFormat = "$function $x attr-dict";
  let hasVerifier = 1;
}
def Tile_RoundOp : Tile_Op<"round", [Pure, SameOperandsAndResultType]> {
  let summary = "fp32 rounded to what a bf16, f16 or tf32 number can hold, to nearest";
  let description = [{ Ties to even. Example: `%y = tile.round %x to "bf16"` }];
  let arguments = (ins F32:$x, StrAttr:$to);
  let results = (outs F32:$y);
  let assemblyFormat = "$x `to` $to attr-dict";
  let hasVerifier = 1;
}

#endif
