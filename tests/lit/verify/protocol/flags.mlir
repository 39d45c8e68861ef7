// Flags between CTAs: who publishes has the role's writes behind it, who reads has the look at the flag behind it.
// RUN: tile-opt --tile-verify-protocol --split-input-file --verify-diagnostics=only-expected %s

tile.kernel "legal" params ["y", "flags"] {
^bb0(%y: !tile.tensor<8x128xf32>, %flags: !tile.tensor<8xi32>):
  tile.role "all" warps 4 {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %cta = tile.block_index 0
    %thread = tile.thread
    %leader = arith.cmpi eq, %thread, %c0 : i32
    scf.if %leader {
      scf.while : () -> () {
        %v = tile.load_strong "acquire" "gpu" %flags[%cta] : !tile.tensor<8xi32> -> i32
        %on = arith.cmpi eq, %v, %c0 : i32
        scf.condition(%on)
      } do {
        scf.yield
      }
    }
    tile.sync
    %x = tile.read %y[%cta, %thread] : !tile.tensor<8x128xf32> -> f32
    tile.write %x -> %y[%c0, %thread] : f32, !tile.tensor<8x128xf32>
    tile.sync
    scf.if %leader {
      tile.store_strong "release" "gpu" %c1 -> %flags[%c1] : i32, !tile.tensor<8xi32>
    }
  }
}

// -----

tile.kernel "unsynchronised_release" params ["y", "flags"] {
^bb0(%y: !tile.tensor<8x128xf32>, %flags: !tile.tensor<8xi32>):
  tile.role "all" warps 4 {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %one = arith.constant 1.0 : f32
    %thread = tile.thread
    %last = arith.constant 127 : i32
    %leader = arith.cmpi eq, %thread, %last : i32
    tile.write %one -> %y[%c0, %thread] : f32, !tile.tensor<8x128xf32>
    scf.if %leader {
      // expected-error@+1 {{role "all" publishes while other warps may still write a tensor}}
      tile.store_strong "release" "gpu" %c1 -> %flags[%c1] : i32, !tile.tensor<8xi32>
    }
  }
}

// -----

tile.kernel "unsynchronised_read" params ["y", "z", "flags"] {
^bb0(%y: !tile.tensor<8x128xf32>, %z: !tile.tensor<8x128xf32>, %flags: !tile.tensor<8xi32>):
  tile.role "all" warps 4 {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %cta = tile.block_index 0
    %thread = tile.thread
    %leader = arith.cmpi eq, %thread, %c0 : i32
    scf.if %leader {
      scf.while : () -> () {
        %v = tile.load_strong "acquire" "gpu" %flags[%cta] : !tile.tensor<8xi32> -> i32
        %on = arith.cmpi eq, %v, %c0 : i32
        scf.condition(%on)
      } do {
        scf.yield
      }
    }
    // expected-error@+1 {{of role "all" read tensor "y" without waiting for the one that looks at the flag; call k.sync()}}
    %x = tile.read %y[%cta, %thread] : !tile.tensor<8x128xf32> -> f32
    tile.write %x -> %y[%c0, %thread] : f32, !tile.tensor<8x128xf32>
  }
}

// -----

tile.kernel "relaxed_look" params ["y", "flags"] {
^bb0(%y: !tile.tensor<8x128xf32>, %flags: !tile.tensor<8xi32>):
  tile.role "one" warps 1 attributes {single_thread} {
    %c0 = arith.constant 0 : i32
    %cta = tile.block_index 0
    scf.while : () -> () {
      %v = tile.load_strong "relaxed" "gpu" %flags[%cta] : !tile.tensor<8xi32> -> i32
      %on = arith.cmpi eq, %v, %c0 : i32
      scf.condition(%on)
    } do {
      scf.yield
    }
    // expected-error@+1 {{role "one" reads tensor "y" after a relaxed look at a flag}}
    %x = tile.read %y[%cta, %c0] : !tile.tensor<8x128xf32> -> f32
    tile.write %x -> %y[%c0, %c0] : f32, !tile.tensor<8x128xf32>
  }
}

// -----

tile.kernel "relaxed_flag" params ["y", "flags"] {
^bb0(%y: !tile.tensor<8x128xf32>, %flags: !tile.tensor<8xi32>):
  tile.role "one" warps 1 attributes {single_thread} {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %one = arith.constant 1.0 : f32
    scf.while : () -> () {
      %v = tile.load_strong "acquire" "gpu" %flags[%c0] : !tile.tensor<8xi32> -> i32
      %on = arith.cmpi eq, %v, %c0 : i32
      scf.condition(%on)
    } do {
      scf.yield
    }
    tile.write %one -> %y[%c0, %c0] : f32, !tile.tensor<8x128xf32>
    // expected-error@+1 {{role "one" writes a flag that is polled, but nothing orders its data before the flag}}
    tile.store_strong "relaxed" "gpu" %c1 -> %flags[%c1] : i32, !tile.tensor<8xi32>
  }
}
