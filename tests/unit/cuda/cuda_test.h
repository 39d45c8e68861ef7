// Tests of the CUDA device over the fake driver.
#pragma once
#include <dlfcn.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <stdexcept>
#include <string>

#include "runtime/cuda/cuda_device.h"
#include "tests/fake_cuda/fake_libcuda.h"
#include "tests/unit/error_of.h"

namespace tilewright::cuda {

using test::error_of;

#define EXPECT_HAS(text, part) EXPECT_NE((text).find(part), std::string::npos) << "in: " << (text)

class CudaTest : public testing::Test {
 protected:
  CudaTest() {
    unsetenv("FAKE_CUDA");
    unsetenv("FAKE_CUDA_DEVICES");
    void* handle = dlopen(FAKE_LIBCUDA, RTLD_NOW | RTLD_LOCAL);
    if (handle == nullptr) throw std::runtime_error(std::string("no stand-in driver: ") + dlerror());
    record = reinterpret_cast<FakeRecordFunction>(dlsym(handle, "fake_record"))();
    *record = {};
  }
  ~CudaTest() override {
    unsetenv("FAKE_CUDA");
    unsetenv("FAKE_CUDA_DEVICES");
  }
  void tell(const char* mode) { setenv("FAKE_CUDA", mode, 1); }
  runtime::KernelImage image() {
    runtime::KernelImage result;
    result.name = "copy";
    result.ptx = ".version 8.7";
    result.threads = 256;
    return result;
  }
  FakeRecord* record;
};

}  // namespace tilewright::cuda
