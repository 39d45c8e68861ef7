#ifndef TILEWRIGHT_DIALECT_TILE_DIALECT
#define TILEWRIGHT_DIALECT_TILE_DIALECT

include "mlir/IR/OpBase.td"
include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/BuiltinTypeInterfaces.td"
include "mlir/Interfaces/SideEffectInterfaces.td"
include "mlir/Interfaces/InferTypeOpInterface.td"
include "mlir/Interfaces/ControlFlowInterfaces.td"

def Tile_Dialect : Dialect {
  let name = "tile";
  let cppNamespace = "::tilewright::tile";
  let summary = "Kernels as roles that exchange tiles; no threads, no registers";
  let description = [{
    A kernel is a set of concurrent *roles*. Roles own register *fragments* (mutable slots), share
    *tiles* in shared memory, and meet at *rings* (tiles guarded by a full and an empty mbarrier per
    stage). Participants are declared on the ring; arrive counts and expected bytes are derived.
    Tensor-core products start asynchronously (`tile.gemm`), are closed into a batch
    (`tile.batch`) and become readable by `tile.settle`.
  }];
  let useDefaultTypePrinterParser = 1;
}

class Tile_Op<string mnemonic, list<Trait> traits = []> : Op<Tile_Dialect, mnemonic, traits>;

class Tile_ShapedType<string name, string mnemonicName> : TypeDef<Tile_Dialect, name> {
  let mnemonic = mnemonicName;
  let parameters = (ins ArrayRefParameter<"int64_t">:$shape, "::mlir::Type":$elementType);
  let hasCustomAssemblyFormat = 1;
}

def Tile_TensorType : Tile_ShapedType<"Global", "tensor"> {
  let summary = "a view of global memory; `?` is an extent known at launch";
}
def Tile_SharedType : Tile_ShapedType<"Shared", "shared"> {
  let summary = "a tile in shared memory (one stage of a ring, or a tile of its own)";
}
def Tile_FragType : Tile_ShapedType<"Frag", "frag"> {
  let summary = "a register fragment slot of a role";
  let description = [{
    `R x C`: rows over the role's warpgroups (64 each) as wgmma accumulators lay them out, or, with
    R = 16, over the lanes of each warp alone. `1 x C` is a vector along the columns and `R x 1` one
    along the rows, replicated where its other index would be. 16-bit elements are packed in pairs.
  }];
}
def Tile_RingType : TypeDef<Tile_Dialect, "Ring"> {
  let mnemonic = "ring";
  let summary = "stages of tiles with a full and an empty mbarrier each";
}
def Tile_BatchType : TypeDef<Tile_Dialect, "Batch"> {
  let mnemonic = "batch";
  let summary = "a group of asynchronous products that settle together";
}
def Tile_VarType : TypeDef<Tile_Dialect, "Var"> {
  let mnemonic = "var";
  let parameters = (ins "::mlir::Type":$elementType);
  let assemblyFormat = "`<` $elementType `>`";
  let summary = "a mutable scalar of a role";
}

#endif
