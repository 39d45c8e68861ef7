// A device function that an author wrote in CUDA C++, as PTX that becomes a part of a kernel's.
#pragma once
#include <string>
#include <vector>

namespace tilewright::nvrtc {

struct CudaFunction {
  std::string symbol;                  // of the PTX function that the kernel calls
  std::string function;                // expression that names the function in the text: "gelu", "act::scaled<2>"
  std::string text;                    // CUDA C++; unmarked functions are device functions
  std::string file;                    // where the text begins in the author's source
  unsigned line = 1;
  std::string result;                  // C type: "float" or "int"
  std::vector<std::string> arguments;  // the same
};

/// PTX without a header: .func `symbol`, and the functions and variables of the text that it reaches, whose names begin with the symbol.
/// Equal functions are compiled once in a process. Throws CompileError "file:line: error: ..." that points into the text, or at its
/// beginning where there is no such function or it has another type. Throws Error where NVRTC is missing.
std::string compile(const CudaFunction&);

/// A kernel's PTX with the functions in front of it. The version of the kernel's PTX stays.
std::string link(const std::string& kernel_ptx, const std::vector<CudaFunction>&);

/// The module-level items of `ptx` that `symbol` reaches, itself last, with names as `compile` describes.
/// Throws Error that names a __shared__ variable.
std::string reachable(const std::string& ptx, const std::string& symbol);

}  // namespace tilewright::nvrtc
