// Barriers by hand, meetings, clusters: arrivals and waits match, no phase is missed.
// RUN: tile-opt --tile-verify-protocol --split-input-file --verify-diagnostics=only-expected %s

// Legal: each hands over to the other; a third role only looks on and is waited for.
tile.kernel "legal" params ["n"] {
^bb0(%n: i32):
  %ready = tile.barrier "ready" from ["make"] to ["use", "watch"]
  %done = tile.barrier "done" from ["use", "watch"] to ["make"]
  tile.role "make" warps 1 {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    scf.for %i = %c0 to %n step %c1 : i32 {
      %later = arith.cmpi sgt, %i, %c0 : i32
      scf.if %later {
        tile.wait_for %done
      }
      tile.arrive %ready
    }
  }
  tile.role "use" warps 4 {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    scf.for %i = %c0 to %n step %c1 : i32 {
      tile.wait_for %ready
      tile.arrive %done
    }
  }
  tile.role "watch" warps 1 {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    scf.for %i = %c0 to %n step %c1 : i32 {
      tile.wait_for %ready
      tile.arrive %done
    }
  }
}

// -----

// Helpers that take turns see every second phase: the parity of the next but one is the same.
tile.kernel "turns" params ["n"] {
^bb0(%n: i32):
  %ready = tile.barrier "ready" from ["make"] to ["even", "odd"]
  %one = tile.barrier "one" from ["even"] to ["make"]
  %two = tile.barrier "two" from ["odd"] to ["make"]
  tile.role "make" warps 1 {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    scf.for %i = %c0 to %n step %c1 : i32 {
      tile.arrive %ready
      tile.wait_for %one
      tile.arrive %ready
      tile.wait_for %two
    }
  }
  tile.role "even" warps 1 {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    scf.for %i = %c0 to %n step %c1 : i32 {
      tile.wait_for %ready
      tile.arrive %one
    }
  }
  tile.role "odd" warps 1 {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    scf.for %i = %c0 to %n step %c1 : i32 {
      // expected-error@+1 {{may miss phase 0 of barrier "ready": phase 1 can complete before it has looked, and then the parity means another phase}}
      tile.wait_for %ready
      tile.arrive %two
    }
  }
}

// -----

// An arrival that the end of the phase before does not precede.
tile.kernel "twice" params ["n"] {
^bb0(%n: i32):
  %all = tile.barrier "all" from ["a", "b"] to ["a"]
  tile.role "a" warps 1 {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    scf.for %i = %c0 to %n step %c1 : i32 {
      tile.arrive %all
      tile.wait_for %all
    }
  }
  tile.role "b" warps 1 {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    scf.for %i = %c0 to %n step %c1 : i32 {
      // expected-error@+1 {{role "b" may arrive twice in one phase of barrier "all": nothing orders this arrival after the end of phase 0}}
      tile.arrive %all
    }
  }
}

// -----

tile.kernel "meetings" params ["n"] {
^bb0(%n: i32):
  tile.role "a" warps 1 {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    scf.for %i = %c0 to %n step %c1 : i32 {
      // expected-error@+1 {{role "a" waits for ever for the meeting of a, b: 1 of 2 arrivals have come}}
      tile.meet ["a", "b"]
    }
  }
  tile.role "b" warps 1 {
    tile.meet ["a", "b"]
  }
}

// -----

// A role that only arrives runs ahead of the others.
tile.kernel "arrive_only" params [] {
  tile.role "a" warps 1 {
    tile.meet ["a", "b"] {arrive_only}
    // expected-error@+1 {{role "a" may arrive twice in one phase of the meeting of a, b}}
    tile.meet ["a", "b"] {arrive_only}
  }
  tile.role "b" warps 1 {
    tile.meet ["a", "b"]
    tile.meet ["a", "b"]
  }
}

// -----

tile.kernel "cluster" params ["y"] attributes {cluster = array<i32: 2, 1, 1>} {
^bb0(%y: !tile.tensor<32xf32>):
  %own = tile.shared "own" : <1x32xf32>
  tile.role "all" warps 1 {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %one = arith.constant 1.0 : f32
    %lane = tile.lane
    %rank = tile.cluster_rank
    %other = arith.subi %c1, %rank : i32
    tile.write %one -> %own[%c0, %lane] : f32, !tile.shared<1x32xf32>
    tile.cluster_arrive
    tile.cluster_wait
    %v = tile.remote_read %own[%c0, %lane] of %other : !tile.shared<1x32xf32> -> f32
    // expected-error@+1 {{writes tile "own", which role "all" of CTA}}
    tile.write %one -> %own[%c0, %lane] : f32, !tile.shared<1x32xf32>
  }
}
