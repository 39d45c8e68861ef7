// Rings: every wait ends, for every trip count; phases and bytes match.
// RUN: tile-opt --tile-verify-protocol --split-input-file --verify-diagnostics=only-expected %s

// Legal: a consumer that looks one stage ahead, of a producer that makes one more; the trip count is an expression both compute.
tile.kernel "legal" params ["n", "x"] {
^bb0(%n: i32, %x: !tile.tensor<?x32xf32>):
  %t = tile.shared "t" {stages = 3 : i32} : <1x32xf32>
  %ring = tile.ring "ring" stages 3 from "load" to ["use"] tiles %t : !tile.shared<1x32xf32>
  tile.role "load" warps 1 attributes {single_thread} {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %more = arith.addi %n, %c1 : i32
    scf.for %i = %c0 to %more step %c1 : i32 {
      %s = tile.acquire %ring
      %at = tile.at %t[%s] : !tile.shared<1x32xf32>
      tile.tma_load %x[%i, %c0] -> %at, %ring[%s] box [1, 32] : <?x32xf32>, <1x32xf32>
    }
  }
  tile.role "use" warps 1 {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %lane = tile.lane
    %first = tile.wait %ring
    %current = tile.var %first : i32 -> <i32>
    scf.for %i = %c0 to %n step %c1 : i32 {
      %s = tile.get %current : <i32> -> i32
      %at = tile.at %t[%s] : !tile.shared<1x32xf32>
      %v = tile.read %at[%c0, %lane] : !tile.shared<1x32xf32> -> f32
      %next = tile.wait %ring
      tile.release %ring[%s]
      tile.set %next, %current : i32, <i32>
    }
  }
}

// -----

// The same without the stage that the consumer looks ahead to.
tile.kernel "starves" params ["n", "x"] {
^bb0(%n: i32, %x: !tile.tensor<?x32xf32>):
  %t = tile.shared "t" {stages = 3 : i32} : <1x32xf32>
  %ring = tile.ring "ring" stages 3 from "load" to ["use"] tiles %t : !tile.shared<1x32xf32>
  tile.role "load" warps 1 attributes {single_thread} {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    scf.for %i = %c0 to %n step %c1 : i32 {
      %s = tile.acquire %ring
      %at = tile.at %t[%s] : !tile.shared<1x32xf32>
      tile.tma_load %x[%i, %c0] -> %at, %ring[%s] box [1, 32] : <?x32xf32>, <1x32xf32>
    }
  }
  tile.role "use" warps 1 {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %first = tile.wait %ring
    %current = tile.var %first : i32 -> <i32>
    scf.for %i = %c0 to %n step %c1 : i32 {
      %s = tile.get %current : <i32> -> i32
      // expected-error@+1 {{role "use" waits for ever for stage 2 of ring "ring" to be filled: 0 of 1 arrivals have come}}
      %next = tile.wait %ring
      tile.release %ring[%s]
      tile.set %next, %current : i32, <i32>
    }
  }
}

// -----

// A mistake of one trip count only: without a trip the stage after the loop is never filled.
tile.kernel "no_trip" params ["n", "x"] {
^bb0(%n: i32, %x: !tile.tensor<?x32xf32>):
  %t = tile.shared "t" {stages = 2 : i32} : <1x32xf32>
  %ring = tile.ring "ring" stages 2 from "load" to ["use"] tiles %t : !tile.shared<1x32xf32>
  tile.role "load" warps 1 attributes {single_thread} {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    scf.for %i = %c0 to %n step %c1 : i32 {
      %s = tile.acquire %ring
      %at = tile.at %t[%s] : !tile.shared<1x32xf32>
      tile.tma_load %x[%i, %c0] -> %at, %ring[%s] box [1, 32] : <?x32xf32>, <1x32xf32>
    }
  }
  tile.role "use" warps 1 {
    %c1 = arith.constant 1 : i32
    // expected-error@+1 {{role "use" waits for ever for stage 0 of ring "ring" to be filled}}
    %first = tile.wait %ring
    tile.release %ring[%first]
    scf.for %i = %c1 to %n step %c1 : i32 {
      %s = tile.wait %ring
      tile.release %ring[%s]
    }
  }
}

// -----

// A stage that only one of two tiles reaches.
tile.kernel "bytes" params ["x"] {
^bb0(%x: !tile.tensor<8x32xf32>):
  %a = tile.shared "a" {stages = 2 : i32} : <1x32xf32>
  %b = tile.shared "b" {stages = 2 : i32} : <1x32xf32>
  %ring = tile.ring "ring" stages 2 from "load" to ["use"] tiles %a, %b : !tile.shared<1x32xf32>, !tile.shared<1x32xf32>
  tile.role "load" warps 1 attributes {single_thread} {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %c4 = arith.constant 4 : i32
    scf.for %i = %c0 to %c4 step %c1 : i32 {
      %s = tile.acquire %ring
      %at = tile.at %a[%s] : !tile.shared<1x32xf32>
      %bt = tile.at %b[%s] : !tile.shared<1x32xf32>
      tile.tma_load %x[%i, %c0] -> %at, %ring[%s] box [1, 32] : <8x32xf32>, <1x32xf32>
      %odd = arith.cmpi ne, %i, %c1 : i32
      scf.if %odd {
        tile.tma_load %x[%i, %c0] -> %bt, %ring[%s] box [1, 32] : <8x32xf32>, <1x32xf32>
      }
    }
  }
  tile.role "use" warps 1 {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %c4 = arith.constant 4 : i32
    scf.for %i = %c0 to %c4 step %c1 : i32 {
      // expected-error@+1 {{role "use" waits for ever for stage 1 of ring "ring" to be filled: 128 of 256 bytes have landed}}
      %s = tile.wait %ring
      tile.release %ring[%s]
    }
  }
}

// -----

// Released before the batch that reads it has settled: the batch is carried over the back edge.
tile.kernel "too_early" params ["n", "x"] {
^bb0(%n: i32, %x: !tile.tensor<?x64x64xbf16>):
  %t = tile.shared "t" {stages = 2 : i32} : <64x64xbf16>
  %ring = tile.ring "ring" stages 2 from "load" to ["math"] tiles %t : !tile.shared<64x64xbf16>
  tile.role "load" warps 1 attributes {single_thread} {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    scf.for %i = %c0 to %n step %c1 : i32 {
      %s = tile.acquire %ring
      %at = tile.at %t[%s] : !tile.shared<64x64xbf16>
      // expected-error@+1 {{role "load" writes tile "t" while a product that reads it may be in flight in role "math"}}
      tile.tma_load %x[%i, %c0, %c0] -> %at, %ring[%s] box [1, 64, 64] : <?x64x64xbf16>, <64x64xbf16>
    }
  }
  tile.role "math" warps 4 {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %acc = tile.frag : <64x64xf32>
    scf.for %i = %c0 to %n step %c1 : i32 {
      %s = tile.wait %ring
      %at = tile.at %t[%s] : !tile.shared<64x64xbf16>
      tile.gemm %acc, %at, %at {trans_b} : <64x64xf32>, !tile.shared<64x64xbf16>, <64x64xbf16>
      %batch = tile.batch
      tile.settle_pending 1
      tile.release %ring[%s]
    }
    tile.settle_pending 0
  }
}

// -----

// Work items handed through a tile: both roles leave their loops for the same number.
tile.kernel "items" params ["next", "items"] {
^bb0(%next: !tile.tensor<1xi32>, %items: i32):
  %item = tile.shared "item" {stages = 2 : i32} : <1x1xi32>
  %ring = tile.ring "ring" stages 2 from "fetch" to ["work"] tiles %item : !tile.shared<1x1xi32>
  tile.role "fetch" warps 1 attributes {single_thread} {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %none = arith.constant -1 : i32
    %n = tile.var %c0 : i32 -> <i32>
    scf.while : () -> () {
      %v = tile.get %n : <i32> -> i32
      %on = arith.cmpi sge, %v, %c0 : i32
      scf.condition(%on)
    } do {
      %ticket = tile.atomic "add" "relaxed" "gpu" %c1 -> %next[%c0] : i32, !tile.tensor<1xi32>
      %some = arith.cmpi slt, %ticket, %items : i32
      %v = arith.select %some, %ticket, %none : i32
      tile.set %v, %n : i32, <i32>
      %s = tile.acquire %ring
      %at = tile.at %item[%s] : !tile.shared<1x1xi32>
      tile.write %v -> %at[%c0, %c0] : i32, !tile.shared<1x1xi32>
      tile.commit %ring[%s]
      scf.yield
    }
  }
  tile.role "work" warps 1 {
    %c0 = arith.constant 0 : i32
    %n = tile.var %c0 : i32 -> <i32>
    scf.while : () -> () {
      %v = tile.get %n : <i32> -> i32
      %on = arith.cmpi sge, %v, %c0 : i32
      scf.condition(%on)
    } do {
      %s = tile.wait %ring
      %at = tile.at %item[%s] : !tile.shared<1x1xi32>
      %v = tile.read %at[%c0, %c0] : !tile.shared<1x1xi32> -> i32
      tile.set %v, %n : i32, <i32>
      tile.release %ring[%s]
      scf.yield
    }
  }
}

// -----

// The worker leaves one item earlier than the fetching role.
tile.kernel "items_lost" params ["next", "items"] {
^bb0(%next: !tile.tensor<1xi32>, %items: i32):
  %item = tile.shared "item" {stages = 2 : i32} : <1x1xi32>
  %ring = tile.ring "ring" stages 2 from "fetch" to ["work"] tiles %item : !tile.shared<1x1xi32>
  tile.role "fetch" warps 1 attributes {single_thread} {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    scf.for %i = %c0 to %items step %c1 : i32 {
      // expected-error@+1 {{role "fetch" waits for ever for stage 1 of ring "ring" to be released}}
      %s = tile.acquire %ring
      %at = tile.at %item[%s] : !tile.shared<1x1xi32>
      tile.write %i -> %at[%c0, %c0] : i32, !tile.shared<1x1xi32>
      tile.commit %ring[%s]
    }
  }
  tile.role "work" warps 1 {
    %c0 = arith.constant 0 : i32
    %c2 = arith.constant 2 : i32
    %n = tile.var %c0 : i32 -> <i32>
    scf.while : () -> () {
      %v = tile.get %n : <i32> -> i32
      %on = arith.cmpi slt, %v, %c2 : i32
      scf.condition(%on)
    } do {
      %s = tile.wait %ring
      %at = tile.at %item[%s] : !tile.shared<1x1xi32>
      %v = tile.read %at[%c0, %c0] : !tile.shared<1x1xi32> -> i32
      tile.set %v, %n : i32, <i32>
      tile.release %ring[%s]
      scf.yield
    }
  }
}
