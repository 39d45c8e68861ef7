// A kernel with one mistake: what its author is told, and at which line.
#pragma once
#include <gtest/gtest.h>

#include <functional>
#include <initializer_list>
#include <string>

#include "compiler/compile.h"

namespace tilewright::test {

class Mistake {
 public:
  /// Builds and compiles a kernel of `body`, which notes the line of its mistake: `line = __LINE__, the_mistake();`.
  explicit Mistake(const std::function<void(Kernel&, int& line)>& body, Where here = Where::current()) : file_(here.file_name()) {
    kernel_line_ = static_cast<int>(here.line());
    try {
      compiler::compile(kernel("broken", [&](Kernel& k) { body(k, line_); }, here));
    } catch (const CompileError& error) {
      message_ = error.what();
    }
  }

  /// The message begins with the mistake's file and line and contains every part.
  void says(std::initializer_list<std::string> parts, Where here = Where::current()) const {
    testing::ScopedTrace trace(here.file_name(), static_cast<int>(here.line()), "expected message");
    ASSERT_FALSE(message_.empty()) << "the kernel compiled";
    const std::string place = file_ + ":" + std::to_string(line_ ? line_ : kernel_line_) + ": error: ";
    EXPECT_EQ(message_.substr(0, place.size()), place) << message_;
    for (const std::string& part : parts) EXPECT_NE(message_.find(part), std::string::npos) << "no \"" << part << "\" in: " << message_;
  }

 private:
  std::string file_, message_;
  int line_ = 0, kernel_line_ = 0;
};

}  // namespace tilewright::test
