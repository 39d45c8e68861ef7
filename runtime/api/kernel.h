// What a tilewright_kernel and a tilewright_function are.
#pragma once
#include <memory>

#include "runtime/ops/build.h"
#include "tilewright/kernel.h"

struct tilewright_kernel {
  tilewright::ops::BuiltPointer built;
};

struct tilewright_function {
  tilewright_handle* handle;
  tilewright::ops::BuiltPointer built;
  std::unique_ptr<tilewright::runtime::LoadedKernel> kernel;
};
