// Functions without an instruction are refused before LLVM sees them.
// RUN: hopper-opt --check-math --split-input-file --verify-diagnostics %s

llvm.func @f(%x: f32) {
  %a = math.absf %x : f32
  %s = math.sqrt %x : f32
  // expected-error @+1 {{'math.exp' op has no instruction on the machine; build it from hopper.exp2}}
  %e = math.exp %x : f32
  llvm.return
}

// -----

llvm.func @f(%x: f32) {
  // expected-error @+1 {{'math.tanh' op has no instruction on the machine}}
  %e = math.tanh %x : f32
  llvm.return
}
