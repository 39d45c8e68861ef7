// What the tests made of the guide's snippets call.
#pragma once
#include <gtest/gtest.h>

#include <functional>

#include "compiler/compile.h"
#include "tilewright/dsl.h"

namespace tilewright::test {

/// The kernel of this body becomes PTX.
inline void compiles(const std::function<void(Kernel&)>& body) {
  const auto compiled = compiler::compile(kernel("guide", body));
  EXPECT_NE(compiled.ptx.find(".entry guide"), std::string::npos);
}

}  // namespace tilewright::test
