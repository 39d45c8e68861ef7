// Calls go through .param space; the text of the function is left to who links the PTX.
// RUN: hopper-opt %s | hopper-opt | FileCheck %s --check-prefix=FORM
// RUN: hopper-opt --convert-hopper-to-llvm %s | FileCheck %s

// FORM: hopper.cuda_function "f0" is "twice" text "float twice(float x);" : (f32) -> f32
// CHECK-NOT: cuda_function
hopper.cuda_function "f0" is "twice" text "float twice(float x);" : (f32) -> f32

llvm.func @calls(%x: f32, %n: i32) {
  // FORM: hopper.call "f0"(%{{.*}}) : (f32) -> f32
  // CHECK: has_side_effects
  // CHECK-SAME: "{\0A.param .b32 argument0;\0Ast.param.f32 [argument0], $1;\0A.param .b32 value;\0Acall.uni (value), f0, (argument0);\0Ald.param.f32 $0, [value];\0A}"
  // CHECK-SAME: "=f,f,~{memory}"
  %y = hopper.call "f0"(%x) : (f32) -> f32
  // FORM: hopper.call "f1"() : () -> i32
  // CHECK: "{\0A.param .b32 value;\0Acall.uni (value), f1, ();\0Ald.param.b32 $0, [value];\0A}"
  %z = hopper.call "f1"() : () -> i32
  // CHECK: st.param.f32 [argument0], $1;\0A.param .b32 argument1;\0Ast.param.b32 [argument1], $2;
  %w = hopper.call "f2"(%x, %n) : (f32, i32) -> i32
  llvm.return
}
