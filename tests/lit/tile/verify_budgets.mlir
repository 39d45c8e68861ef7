// Registers come out of the pool that the launch got; threads, boxes and named barriers have their limits too.
// RUN: tile-opt --tile-verify-structure --split-input-file --verify-diagnostics %s

// Legal: 3 x 168 registers at entry are exactly 232 + 232 + 40.
tile.kernel "legal" params [] {
  tile.role "math" warps 8 attributes {registers = 232 : i32} {
  }
  tile.role "load" warps 1 attributes {registers = 40 : i32, single_thread} {
  }
}

// -----

// expected-error @+1 {{register budgets 216 + 216 + 80 = 512 exceed the pool of 3 warpgroups x 168 registers at entry = 504}}
tile.kernel "pool" params [] {
  // expected-note @+1 {{role "math": 8 warps, 216 registers a thread}}
  tile.role "math" warps 8 attributes {registers = 216 : i32} {
  }
  // expected-note @+1 {{role "load": 1 warps, 80 registers a thread}}
  tile.role "load" warps 1 attributes {registers = 80 : i32} {
  }
}

// -----

tile.kernel "missing" params [] {
  tile.role "math" warps 4 attributes {registers = 216 : i32} {
  }
  // expected-error @+1 {{"rest" has no register budget, others have one}}
  tile.role "rest" warps 4 {
  }
}

// -----

// expected-error @+1 {{a CTA has 1152 threads, expected a multiple of 32 in 32..1024}}
tile.kernel "threads" params [] {
  tile.role "math" warps 36 {
  }
}

// -----

tile.kernel "box" params ["x"] {
^bb0(%x: !tile.tensor<512x64xbf16>):
  %a = tile.shared "a" : <512x64xbf16>
  tile.role "r" warps 1 {
    %c = tile.thread
    // expected-error @+1 {{box extent 512 of axis 0: TMA copies at most 256 along one axis}}
    tile.tma_store %a -> %x[%c, %c] box [512, 64] : <512x64xbf16>, <512x64xbf16>
  }
}
