// Who arrives, who waits, who meets.
// RUN: tile-opt --tile-verify-structure --split-input-file --verify-diagnostics %s

tile.kernel "k" params [] {
  // expected-error @+1 {{"b": its arriving role "missing" has no body in this kernel}}
  %b = tile.barrier "b" from ["missing"] to ["r"]
  tile.role "r" warps 1 {
    tile.wait_for %b
  }
}

// -----

tile.kernel "k" params [] {
  %b = tile.barrier "b" from ["a"] to ["r"]
  tile.role "a" warps 1 {
    tile.arrive %b
    // expected-error @+1 {{role "a" waits at barrier "b" but is not one of its waiting roles; name it in k.barrier(...)}}
    tile.wait_for %b
  }
  tile.role "r" warps 1 {
    tile.wait_for %b
  }
}

// -----

tile.kernel "k" params [] {
  tile.role "a" warps 1 {
    // expected-error @+1 {{role "missing" has no body in this kernel}}
    tile.meet ["a", "missing"]
  }
}

// -----

tile.kernel "k" params [] {
  // expected-error @+1 {{"b": nobody waits; name at least one role}}
  %b = tile.barrier "b" from ["a"] to []
}

// -----

// Five roles of several warps and eleven sets of them are one barrier too many.
// expected-error @+1 {{5 roles of several warps and 11 sets of roles that meet; each uses a named barrier and a CTA has 15}}
tile.kernel "k" params [] {
  tile.role "a" warps 4 {
    tile.meet ["a", "b"]
    tile.meet ["a", "c"]
    tile.meet ["a", "d"]
    tile.meet ["a", "e"]
    tile.meet ["a", "b", "c"]
    tile.meet ["a", "b", "d"]
    tile.meet ["a", "b", "e"]
    tile.meet ["a", "c", "d"]
    tile.meet ["a", "c", "e"]
    tile.meet ["a", "d", "e"]
    tile.meet ["a", "b", "c", "d"]
  }
  tile.role "b" warps 4 {
    tile.meet ["a", "b"]
    tile.meet ["a", "b", "c"]
    tile.meet ["a", "b", "d"]
    tile.meet ["a", "b", "e"]
    tile.meet ["a", "b", "c", "d"]
  }
  tile.role "c" warps 4 {
    tile.meet ["a", "c"]
    tile.meet ["a", "b", "c"]
    tile.meet ["a", "c", "d"]
    tile.meet ["a", "c", "e"]
    tile.meet ["a", "b", "c", "d"]
  }
  tile.role "d" warps 4 {
    tile.meet ["a", "d"]
    tile.meet ["a", "b", "d"]
    tile.meet ["a", "c", "d"]
    tile.meet ["a", "d", "e"]
    tile.meet ["a", "b", "c", "d"]
  }
  tile.role "e" warps 4 {
    tile.meet ["a", "e"]
    tile.meet ["a", "b", "e"]
    tile.meet ["a", "c", "e"]
    tile.meet ["a", "d", "e"]
  }
}
