// The tile dialect: kernels, roles, tiles, rings, products. No threads and no registers.
#pragma once
#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/Interfaces/ControlFlowInterfaces.h"
#include "mlir/Interfaces/InferTypeOpInterface.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

// Generated code is not ours to keep free of warnings.
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wunused-parameter"
#include "dialect/tile/TileDialect.h.inc"
#define GET_TYPEDEF_CLASSES
#include "dialect/tile/TileTypes.h.inc"
#define GET_OP_CLASSES
#include "dialect/tile/TileOps.h.inc"
#pragma GCC diagnostic pop

namespace tilewright::tile {

/// Extents without the ones: [64, 1, 128] -> [64, 128]; at least one extent is kept.
llvm::SmallVector<int64_t> squeeze(llvm::ArrayRef<int64_t> extents);

/// Bits of an element type that tiles may have (f32, bf16, f16, i32, i64).
unsigned element_bytes(mlir::Type type);

}  // namespace tilewright::tile
