#pragma once
/// The hopper dialect: threads, registers, one op about one PTX instruction (sm_90a).
#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/Dialect/LLVMIR/LLVMTypes.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/Interfaces/InferTypeOpInterface.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

#include "dialect/hopper/PtxOperands.h"

#include "dialect/hopper/HopperDialect.h.inc"
#include "dialect/hopper/PtxInstruction.h.inc"
#define GET_OP_CLASSES
#include "dialect/hopper/HopperOps.h.inc"

namespace tilewright::hopper {
/// Name of the kernel's dynamic shared memory, an extern array in the shared window, 1024-byte aligned.
inline constexpr char kDynamicSharedMemory[] = "tilewright_dyn_smem";
/// Name of the variable that holds a traced kernel's time stamps.
inline constexpr char kTrace[] = "tilewright_trace";
} // namespace tilewright::hopper
