# LLVM and MLIR 22.1 behind two interface targets:
#   tilewright_mlir_core  what the compiler library needs: IR, dialects, conversions, translation, NVPTX
#   tilewright_mlir_opt   what an mlir-opt-like driver needs on top
# TILEWRIGHT_LLVM_LINK chooses the shared libraries (dylib) or the archives (static). One program never
# mixes the two: rooms link these targets and no MLIR* or LLVM* target of their own.

if(NOT TILEWRIGHT_LLVM_LINK MATCHES "^(dylib|static)$")
  message(FATAL_ERROR "TILEWRIGHT_LLVM_LINK is '${TILEWRIGHT_LLVM_LINK}', expected 'dylib' or 'static'.")
endif()

find_package(MLIR 22.1 REQUIRED CONFIG PATHS "${TILEWRIGHT_LLVM_DIR}" NO_DEFAULT_PATH)
list(APPEND CMAKE_MODULE_PATH "${MLIR_CMAKE_DIR}" "${LLVM_CMAKE_DIR}")
include(TableGen)
include(AddLLVM)
include(AddMLIR)
separate_arguments(_llvm_definitions NATIVE_COMMAND "${LLVM_DEFINITIONS}")

set(_mlir_core
  MLIRIR MLIRParser MLIRPass MLIRTransforms MLIRSupport
  MLIRArithDialect MLIRMathDialect MLIRFuncDialect MLIRSCFDialect MLIRControlFlowDialect
  MLIRGPUDialect MLIRLLVMDialect MLIRNVVMDialect MLIRUBDialect MLIRIndexDialect
  MLIRArithToLLVM MLIRControlFlowToLLVM MLIRFuncToLLVM MLIRSCFToControlFlow MLIRMathToLLVM
  MLIRIndexToLLVM MLIRUBToLLVM
  MLIRNVVMToLLVM MLIRReconcileUnrealizedCasts MLIRConvertToLLVMPass
  MLIRBuiltinToLLVMIRTranslation MLIRLLVMToLLVMIRTranslation MLIRNVVMToLLVMIRTranslation
  MLIRTargetLLVMIRExport MLIRFuncInlinerExtension)
set(_llvm_components Core Support IRReader Passes Target NVPTXCodeGen NVPTXDesc NVPTXInfo
  Analysis TransformUtils BitReader BitWriter)

add_library(tilewright_mlir_core INTERFACE)
add_library(tilewright_mlir_opt INTERFACE)
target_include_directories(tilewright_mlir_core SYSTEM INTERFACE ${LLVM_INCLUDE_DIRS} ${MLIR_INCLUDE_DIRS})
target_compile_options(tilewright_mlir_core INTERFACE ${_llvm_definitions})
target_link_libraries(tilewright_mlir_opt INTERFACE tilewright_mlir_core)

if(TILEWRIGHT_LLVM_LINK STREQUAL "dylib")
  target_link_libraries(tilewright_mlir_core INTERFACE MLIR LLVM)
  return()
endif()

set(TILEWRIGHT_ZLIB /usr/lib/x86_64-linux-gnu/libz.a CACHE FILEPATH "static zlib (package zlib1g-dev)")
set(TILEWRIGHT_ZSTD /usr/lib/x86_64-linux-gnu/libzstd.a CACHE FILEPATH "static zstd (package libzstd-dev)")
foreach(archive IN ITEMS "${TILEWRIGHT_ZLIB}" "${TILEWRIGHT_ZSTD}")
  if(NOT EXISTS "${archive}")
    message(FATAL_ERROR "The static build needs ${archive}; install zlib1g-dev and libzstd-dev.")
  endif()
endforeach()

# The exported static MLIR targets carry the shared target LLVM in their link interface: swap it for
# the archives, so that no libLLVM.so gets mixed in.
add_library(tilewright_llvm_static INTERFACE)
llvm_map_components_to_libnames(_llvm_archives ${_llvm_components})
target_link_libraries(tilewright_llvm_static INTERFACE ${_llvm_archives})
get_property(_mlir_all GLOBAL PROPERTY MLIR_ALL_LIBS)
list(REMOVE_DUPLICATES _mlir_all)
foreach(lib IN LISTS _mlir_all)
  if(TARGET ${lib})
    get_target_property(_interface ${lib} INTERFACE_LINK_LIBRARIES)
    if(_interface)
      list(TRANSFORM _interface REPLACE "^LLVM$" tilewright_llvm_static)
      set_target_properties(${lib} PROPERTIES INTERFACE_LINK_LIBRARIES "${_interface}")
    endif()
  endif()
endforeach()
# LLVMSupport's interface names libz3.so and the shared zstd; only zlib and zstd are really used by what is linked.
set_target_properties(LLVMSupport PROPERTIES INTERFACE_LINK_LIBRARIES
  "rt;dl;m;${TILEWRIGHT_ZLIB};${TILEWRIGHT_ZSTD};LLVMDemangle")
if(TARGET LLVMWindowsManifest)
  set_target_properties(LLVMWindowsManifest PROPERTIES INTERFACE_LINK_LIBRARIES LLVMSupport)
endif()
target_link_libraries(tilewright_mlir_core INTERFACE ${_mlir_core} tilewright_llvm_static)
target_link_libraries(tilewright_mlir_opt INTERFACE MLIROptLib)
