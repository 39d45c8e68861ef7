// How many instructions of each class the assembled kernels have, against what is written down in instructions.json.
#pragma once
#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace tilewright::test {

using Histogram = std::map<std::string, unsigned>;   // by class: tensor, copy, barrier, shared, ...

/// Counts the instructions of a disassembly by class; padding does not count.
Histogram sass_histogram(std::string_view sass);

/// What is not as expected, a line each. Tensor, copy, barrier and local-memory instructions must be as many; of the other classes
/// a tenth, or eight, more or less is let through.
std::vector<std::string> differences(const Histogram& expected, const Histogram& actual);

/// Expectations of all kernels, by kernel and version of ptxas ("12.8").
class InstructionContract {
 public:
  explicit InstructionContract(std::filesystem::path file);
  /// Null where nothing is written down.
  const Histogram* expected(const std::string& kernel, const std::string& ptxas) const;
  void set(const std::string& kernel, const std::string& ptxas, const Histogram&);
  /// Writes the file. Throws Error when that fails.
  void save() const;

 private:
  std::filesystem::path file_;
  std::map<std::string, std::map<std::string, Histogram>> all_;
};

}  // namespace tilewright::test
