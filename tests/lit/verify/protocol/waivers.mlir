// The author answers for what cannot be decided, and only for that; a waiver names a property and a reason.
// RUN: tile-opt --tile-verify-protocol --split-input-file --verify-diagnostics %s

tile.kernel "waived" params ["i"] attributes {waivers = [["t", "race", "i is never 0"]]} {
^bb0(%i: i32):
  %t = tile.shared "t" : <4x32xi32>
  tile.role "a" warps 1 {
    %c0 = arith.constant 0 : i32
    %lane = tile.lane
    tile.write %c0 -> %t[%i, %lane] : i32, !tile.shared<4x32xi32>
  }
  tile.role "b" warps 1 {
    %c0 = arith.constant 0 : i32
    %lane = tile.lane
    tile.write %c0 -> %t[%c0, %lane] : i32, !tile.shared<4x32xi32>
  }
}

// -----

// Refuted: no waiver helps.
// expected-note@+1 {{a waiver answers for what cannot be decided; this is refuted}}
tile.kernel "refuted" params [] attributes {waivers = [["t", "race", "both write the same number"]]} {
  %t = tile.shared "t" : <1x32xi32>
  tile.role "a" warps 1 {
    %c0 = arith.constant 0 : i32
    %lane = tile.lane
    // expected-note@+1 {{1. role "a": write of tile "t"}}
    tile.write %c0 -> %t[%c0, %lane] : i32, !tile.shared<1x32xi32>
  }
  tile.role "b" warps 1 {
    %c0 = arith.constant 0 : i32
    %lane = tile.lane
    // expected-note@+2 {{2. role "b": write of tile "t"}}
    // expected-error@+1 {{role "b" writes tile "t", which role "a" writes; nothing orders the two}}
    tile.write %c0 -> %t[%c0, %lane] : i32, !tile.shared<1x32xi32>
  }
}

// -----

// Nothing about the tile is undecided.
// expected-error@+1 {{waiver of "race" for "t" is not needed: nothing about it is undecided; take it out}}
tile.kernel "unused" params [] attributes {waivers = [["t", "race", "the roles never meet"]]} {
  %t = tile.shared "t" : <1x32xi32>
  tile.role "a" warps 1 {
    %c0 = arith.constant 0 : i32
    %lane = tile.lane
    tile.write %c0 -> %t[%c0, %lane] : i32, !tile.shared<1x32xi32>
  }
}

// -----

// expected-error@+1 {{waiver of "luck" for "t": there is no such property; expected one of starvation phases}}
tile.kernel "word" params [] attributes {waivers = [["t", "luck", "it works here"]]} {
  tile.role "a" warps 1 {
  }
}

// -----

// expected-error@+1 {{waiver of "race" for "t" gives no reason}}
tile.kernel "reason" params [] attributes {waivers = [["t", "race", ""]]} {
  tile.role "a" warps 1 {
  }
}

// -----

// Undecided: where this lies is known only at run time.
tile.kernel "undecided" params ["i"] {
^bb0(%i: i32):
  %t = tile.shared "t" : <4x32xi32>
  tile.role "a" warps 1 {
    %c0 = arith.constant 0 : i32
    %lane = tile.lane
    // expected-note@+1 {{1. role "a": write of tile "t"}}
    tile.write %c0 -> %t[%i, %lane] : i32, !tile.shared<4x32xi32>
  }
  tile.role "b" warps 1 {
    %c0 = arith.constant 0 : i32
    %lane = tile.lane
    // expected-note@+2 {{2. role "b": write of tile "t"}}
    // expected-error@+1 {{cannot be decided: role "b" writes tile "t", which role "a" writes; nothing orders the two; hand the tile over through a ring or a barrier (or waive it: k.waive("t", "race", reason))}}
    tile.write %c0 -> %t[%c0, %lane] : i32, !tile.shared<4x32xi32>
  }
}
