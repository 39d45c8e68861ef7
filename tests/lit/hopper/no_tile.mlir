// The hopper level stands alone: its tool does not know the tile dialect.
// RUN: not hopper-opt %s 2>&1 | FileCheck %s

// CHECK: Dialect `tile' not found for custom op 'tile.kernel'
// CHECK: Available dialects: arith, builtin, cf, func, hopper, llvm, math, nvvm, scf
tile.kernel @k {
}
