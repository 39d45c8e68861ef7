// What cannot become PTX is reported at its line, and the tool ends with an error.
// RUN: split-file %s %t
// RUN: not hopper-translate %t/math.mlir 2>&1 | FileCheck %s --check-prefix=MATH
// RUN: not hopper-translate %t/assembly.mlir 2>&1 | FileCheck %s --check-prefix=ASM
// RUN: not hopper-translate %t/func.mlir --fast 2>&1 | FileCheck %s --check-prefix=USAGE
// RUN: not hopper-translate %t/none.mlir 2>&1 | FileCheck %s --check-prefix=NONE

//--- math.mlir
llvm.func @f(%x: f32) -> f32 {
  // MATH: math.mlir":3:8): error: 'math.sin' op has no instruction on the machine
  %e = math.sin %x : f32
  llvm.return %e : f32
}

//--- assembly.mlir
// An error of LLVM's backend comes back as a diagnostic; it does not end the process.
// ASM: error: LLVM: {{.*}}couldn't allocate output register for constraint 'x'
llvm.func @f() -> i32 {
  %r = llvm.inline_asm has_side_effects "mov.u32 $0, 1;", "=x" : () -> i32
  llvm.return %r : i32
}

//--- func.mlir
// USAGE: usage: hopper-translate FILE.mlir
llvm.func @f() {
  llvm.return
}

// NONE: none.mlir
