// Every shipped kernel on its host case, and single instructions, on two devices with the same PTX and the same inputs.
#pragma once
#include <functional>
#include <string>
#include <vector>

#include "runtime/cli/command.h"
#include "tests/card/agreement/compare.h"

namespace tilewright::test {

struct Case {
  std::string name;
  std::function<Ran(const std::string& device)> run;
  /// How far the outputs may be apart, given what the first device made of them.
  std::function<Bound(const Ran&, std::size_t output)> bound;
};
const std::vector<Case>& agreement_cases();

struct Agreement {
  std::string name;
  std::vector<Difference> outputs;
  std::string problem;                       // empty, or why the case could not be compared
  bool agree() const;
};
/// `spoil` may change what the second device made: tests plant a difference with it.
Agreement agree(const Case&, const std::string& first, const std::string& second, const std::function<void(Ran&)>& spoil = {});

}  // namespace tilewright::test
