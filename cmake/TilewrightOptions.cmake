# Compiler and linker flags that hold for every target of the project.

if(NOT CMAKE_SYSTEM_PROCESSOR MATCHES "^(x86_64|AMD64)$")
  message(FATAL_ERROR "Tilewright is built for x86_64; this machine is ${CMAKE_SYSTEM_PROCESSOR}.")
endif()
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 12)
  message(FATAL_ERROR "g++ >= 12 is needed; found ${CMAKE_CXX_COMPILER_VERSION}.")
elseif(CMAKE_CXX_COMPILER_ID MATCHES "Clang" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 16)
  message(FATAL_ERROR "clang++ >= 16 is needed; found ${CMAKE_CXX_COMPILER_VERSION}. Set CMAKE_CXX_COMPILER=clang++-16.")
endif()

if(NOT CMAKE_BUILD_TYPE)
  set(CMAKE_BUILD_TYPE Release CACHE STRING "build type" FORCE)
endif()

set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_CXX_VISIBILITY_PRESET hidden)
set(CMAKE_VISIBILITY_INLINES_HIDDEN ON)
add_compile_options(-Wall -Wextra -ffunction-sections -fdata-sections)

include_directories("${CMAKE_SOURCE_DIR}" "${CMAKE_SOURCE_DIR}/include" "${CMAKE_BINARY_DIR}")

if(EXISTS "${TILEWRIGHT_LLVM_DIR}/bin/ld.lld")
  add_link_options(-fuse-ld=lld "-B${TILEWRIGHT_LLVM_DIR}/bin")
endif()
add_link_options(-Wl,--gc-sections)
if(TILEWRIGHT_LLVM_LINK STREQUAL "static")
  # What is carried to another machine needs only the C library there.
  add_link_options(-static-libstdc++ -static-libgcc -Wl,--icf=all -Wl,-s)
endif()

if(TILEWRIGHT_SANITIZE)
  # vptr needs every class of LLVM to carry sanitizer data; the distribution's has none.
  add_compile_options(-fsanitize=address,undefined -fno-sanitize=vptr -fno-sanitize-recover=undefined
    -fno-omit-frame-pointer)
  add_link_options(-fsanitize=address,undefined)
endif()
