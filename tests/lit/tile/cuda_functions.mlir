// A device function of CUDA C++ text, and its calls, from the tile to the hopper dialect.
// RUN: tile-opt %s | tile-opt | FileCheck %s --check-prefix=TILE
// RUN: tile-opt --tile-verify-structure --tile-infer-layouts --tile-plan-shared --lower-tile %s | FileCheck %s --check-prefix=HOPPER

// TILE: %[[F:.*]] = tile.cuda_function "act::scaled<2>" text "float f(float x, int n);" : (f32, i32) -> f32
// TILE: tile.call %[[F]](%{{.*}}, %{{.*}}) : (f32, i32) -> f32, (f32, i32) -> f32
// HOPPER: hopper.cuda_function "tilewright_cuda_0_act__scaled_2_" is "act::scaled<2>" text "float f(float x, int n);" : (f32, i32) -> f32
// HOPPER: llvm.func @calls
// HOPPER-COUNT-4: hopper.call "tilewright_cuda_0_act__scaled_2_"(%{{.*}}, %{{.*}}) : (f32, i32) -> f32
// HOPPER-NOT: hopper.call
tile.kernel "calls" params [] {
  %f = tile.cuda_function "act::scaled<2>" text "float f(float x, int n);" : (f32, i32) -> f32
  tile.role "all" warps 4 {
    %x = tile.frag : <64x8xf32>
    %zero = arith.constant 0.0 : f32
    tile.fill %zero, %x : <64x8xf32>
    tile.map ins(%x) outs(%x) {
    ^bb0(%r: i32, %c: i32, %v: f32):
      %y = tile.call %f(%v, %r) : (f32, i32) -> f32, (f32, i32) -> f32
      tile.yield %y : f32
    } : (!tile.frag<64x8xf32>) -> (!tile.frag<64x8xf32>)
  }
}
