// What a tilewright_kernel and a tilewright_function are.
#pragma once
#include <memory>

#include "runtime/api/handle.h"
#include "runtime/ops/build.h"
#include "tilewright/kernel.h"

struct tilewright_kernel {
  tilewright::ops::BuiltPointer built;
};

struct tilewright_function {
  std::shared_ptr<tilewright::api::SharedDevice> shared;
  tilewright::ops::BuiltPointer built;
  std::unique_ptr<tilewright::runtime::LoadedKernel> kernel;
};
