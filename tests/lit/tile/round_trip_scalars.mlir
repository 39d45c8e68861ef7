// Indices, mutable scalars and synchronisation, as they are printed and read back.
// RUN: tile-opt %s | tile-opt | FileCheck %s

// CHECK-LABEL: tile.kernel "scalars" params []
tile.kernel "scalars" params [] {
  // CHECK: tile.role "all" warps 1 {
  tile.role "all" warps 1 {
    // CHECK: tile.thread
    %t = tile.thread
    // CHECK: tile.lane
    %l = tile.lane
    // CHECK: %[[W:.*]] = tile.warp
    %w = tile.warp
    // CHECK: tile.uniform %[[W]]
    %u = tile.uniform %w
    // CHECK: tile.shuffle "xor" %{{.*}}, %{{.*}} : i32
    %x = tile.shuffle "xor" %t, %l : i32
    // CHECK: %[[V:.*]] = tile.var %{{.*}} : i32 -> <i32>
    %v = tile.var %x : i32 -> <i32>
    // CHECK: %[[G:.*]] = tile.get %[[V]] : <i32> -> i32
    %g = tile.get %v : <i32> -> i32
    // CHECK: tile.set %[[G]], %[[V]] : i32, <i32>
    tile.set %g, %v : i32, <i32>
    // CHECK: tile.sync
    tile.sync
    // CHECK: tile.warp_sync
    tile.warp_sync
    // CHECK: tile.fence_async
    tile.fence_async
    // CHECK: tile.grid_launch
    tile.grid_launch
  }
}
