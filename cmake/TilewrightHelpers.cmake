# Functions that the rooms call.

# tilewright_mlir_pch(<target>)
# Gives a target that links tilewright_mlir_core the precompiled MLIR headers. They are compiled once, for
# the hidden target tilewright_pch, and reused.
add_library(tilewright_pch STATIC EXCLUDE_FROM_ALL "${CMAKE_SOURCE_DIR}/cmake/mlir_pch.cpp")
target_link_libraries(tilewright_pch PRIVATE tilewright_mlir_core)
if(TILEWRIGHT_PCH)
  target_precompile_headers(tilewright_pch PRIVATE "${CMAKE_SOURCE_DIR}/cmake/mlir_pch.h")
endif()
function(tilewright_mlir_pch target)
  if(TILEWRIGHT_PCH)
    target_precompile_headers(${target} REUSE_FROM tilewright_pch)
  endif()
endfunction()

# tilewright_shared(<target>)
# Settings of a shared library that lives in a process with another LLVM and another libstdc++: only the C functions
# tilewright_* that its own sources mark for export are visible.
function(tilewright_shared target)
  target_link_options(${target} PRIVATE -Wl,--exclude-libs,ALL
    "-Wl,--version-script=${CMAKE_SOURCE_DIR}/cmake/exports.map")
  set_property(TARGET ${target} APPEND PROPERTY LINK_DEPENDS "${CMAKE_SOURCE_DIR}/cmake/exports.map")
  if(NOT TILEWRIGHT_SANITIZE)
    target_link_options(${target} PRIVATE -Wl,-z,defs)
  endif()
endfunction()

# tilewright_beside(<executable>)
# The executable finds libtilewright.so in its own folder, wherever the two are copied.
function(tilewright_beside executable)
  set_target_properties(${executable} PROPERTIES BUILD_RPATH "$ORIGIN" INSTALL_RPATH "$ORIGIN"
    BUILD_WITH_INSTALL_RPATH ON)
endfunction()

# tilewright_unit_test(<room> <libs>...)
# One GoogleTest executable unit_<room> of every *.cpp in the calling folder or in tests/unit/<room>, one ctest
# entry of the same name with the label "unit". A report of its cases goes to reports/unit_<room>.xml.
function(tilewright_unit_test room)
  set(folder "${CMAKE_SOURCE_DIR}/tests/unit/${room}")
  file(GLOB sources CONFIGURE_DEPENDS "${folder}/*.cpp")
  if(NOT sources)
    return()
  endif()
  tilewright_gtest(unit_${room} unit "${sources}" ${ARGN})
endfunction()

# tilewright_gtest(<name> <label> <sources> <libs>...)
# A GoogleTest executable and its ctest entry.
function(tilewright_gtest name label sources)
  add_executable(${name} ${sources})
  target_link_libraries(${name} PRIVATE ${ARGN} GTest::gtest GTest::gmock GTest::gtest_main)
  target_compile_definitions(${name} PRIVATE TILEWRIGHT_SOURCE_DIR="${CMAKE_SOURCE_DIR}"
    TILEWRIGHT_BINARY_DIR="${CMAKE_BINARY_DIR}")
  add_test(NAME ${name} COMMAND ${name} "--gtest_output=xml:${CMAKE_BINARY_DIR}/reports/${name}.xml" --gtest_brief=1)
  tilewright_test_properties(${name} ${label})
endfunction()

# tilewright_test_properties(<test> <label>)
# Label, time limit and environment that every test gets.
function(tilewright_test_properties test label)
  set(environment "TILEWRIGHT_TOOLS=${CMAKE_SOURCE_DIR}/tools" "TILEWRIGHT_CACHE_DIR=${CMAKE_BINARY_DIR}/test-cache"
    "TILEWRIGHT_PLANNER_COSTS=")  # empty: as unset
  if(TILEWRIGHT_SANITIZE STREQUAL "address")
    # LLVM's own containers are not instrumented, and its allocations live as long as the process. Too large an
    # allocation fails as it does without the sanitizer: tests ask for one.
    list(APPEND environment "ASAN_SYMBOLIZER_PATH=${TILEWRIGHT_LLVM_DIR}/bin/llvm-symbolizer"
      "ASAN_OPTIONS=detect_container_overflow=0:detect_leaks=0:allocator_may_return_null=1"
      "UBSAN_OPTIONS=print_stacktrace=1")
  elseif(TILEWRIGHT_SANITIZE STREQUAL "thread")
    list(APPEND environment
      "TSAN_OPTIONS=allocator_may_return_null=1:external_symbolizer_path=${TILEWRIGHT_LLVM_DIR}/bin/llvm-symbolizer:suppressions=${CMAKE_SOURCE_DIR}/cmake/tsan.supp")
  endif()
  set_tests_properties(${test} PROPERTIES LABELS ${label} TIMEOUT 600 ENVIRONMENT "${environment}")
endfunction()
