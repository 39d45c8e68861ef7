// What a launch needs to know lies beside the function.
// RUN: tile-opt --tile-pieces-to-hopper %s | FileCheck %s

// CHECK: tilewright.sidecar = "{
// CHECK-SAME: \22dims\22: [\0A    \22n\22\0A  ]
// CHECK-SAME: \22dynamic_shared_bytes\22: 16384
// CHECK-SAME: \22ceildiv\22,\0A      \22n\22,\0A      64
// CHECK-SAME: \22name\22: \22k\22
// A swizzled box is a panel of 64 columns wide, innermost first; the ragged map has two more dimensions.
// CHECK-SAME: \22box\22: [\0A        64,\0A        64,\0A        1,\0A        1\0A      ]
// CHECK-SAME: \22ragged\22: true,
// CHECK-SAME: \22swizzle\22: \22b128\22
// CHECK-SAME: \22box\22: [\0A        64,\0A        64\0A      ]
// CHECK-SAME: \22ragged\22: false,
// CHECK-SAME: \22swizzle\22: \22b128\22
// CHECK-SAME: \22dim\22: \22n\22,\0A      \22kind\22: \22i32\22
// CHECK-SAME: \22threads\22: 32
tile.kernel "k" params ["x", "n"] attributes {grid = ["[\22ceildiv\22,\22n\22,64]", "1", "1"], shapes = [{kind = "tensor", shape = ["\22n\22", "128"], role = "out", optional = false}, {kind = "dim"}]} {
^bb0(%x: !tile.tensor<?x128xbf16>, %n: i32):
  %a = tile.shared "a" : <64x128xbf16>
  tile.role "r" warps 1 {
    %zero = arith.constant 0 : i32
    tile.tma_store %a -> %x[%zero, %zero] box [64, 128] : <64x128xbf16>, <?x128xbf16>
    tile.tma_store %a -> %x[%zero, %zero] rows %zero, %n box [64, 128] : <64x128xbf16>, <?x128xbf16>
  }
}
