// Places in shared memory: a ring's tiles side by side for each stage, then single tiles, then barriers.
// RUN: tile-opt --tile-infer-layouts --tile-plan-shared %s | FileCheck %s

// CHECK: shared_bytes = 68640 : i32
tile.kernel "k" params [] {
  // A stage of the ring is 8192 + 16384 bytes, so the stages lie 24576 + 1024 bytes apart: "vector" takes 256.
  // CHECK: tile.shared "left" {layout = "swizzle128", offset = 0 : i32, stage_stride = 25600 : i32, stages = 2 : i32}
  %a = tile.shared "left" {stages = 2 : i32} : <64x64xbf16>
  // CHECK: tile.shared "right" {layout = "swizzle128", offset = 8192 : i32, stage_stride = 25600 : i32, stages = 2 : i32}
  %b = tile.shared "right" {stages = 2 : i32} : <64x128xbf16>
  // CHECK: tile.shared "vector" {layout = "row_major", offset = 24576 : i32, stage_stride = 25600 : i32, stages = 2 : i32}
  %c = tile.shared "vector" {stages = 2 : i32} : <1x64xf32>
  // CHECK: tile.shared "single" {layout = "row_major", offset = 51200 : i32, pad = 16 : i32}
  %d = tile.shared "single" {pad = 16 : i32} : <64x64xf32>
  // CHECK: tile.shared "over" {layout = "row_major", offset = 0 : i32, overlay = "left"}
  %e = tile.shared "over" {overlay = "left"} : <32x64xf32>
  // Two stages, a full and an empty barrier of 8 bytes each, behind everything.
  // CHECK: tile.ring "ring" stages 2 from "r" to ["r"] tiles {{.*}} {offset = 68608 : i32}
  %ring = tile.ring "ring" stages 2 from "r" to ["r"] tiles %a, %b, %c : !tile.shared<64x64xbf16>, !tile.shared<64x128xbf16>, !tile.shared<1x64xf32>
  tile.role "r" warps 1 {
  }
}
