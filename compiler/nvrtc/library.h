// NVRTC, NVIDIA's compiler of CUDA C++ as a library, loaded when it is first needed.
#pragma once
#include <string>
#include <vector>

namespace tilewright::nvrtc {

/// Where NVRTC was found, for reports.
struct Found {
  std::string path;     // as it was loaded
  std::string version;  // "12.8"
};

/// Looks in TILEWRIGHT_NVRTC, the tools folder (TILEWRIGHT_TOOLS, else the one of the build), CUDA_HOME/lib64 and where the loader looks,
/// in this order. Throws Error that names these places and how to get NVRTC.
Found require();

struct Result {
  bool good = false;
  std::string ptx;  // when good
  std::string log;  // what the compiler says, "" when nothing
};

/// Compiles CUDA C++. `name` stands for the text in messages. Throws Error where there is no NVRTC.
Result run(const std::string& text, const std::string& name, const std::vector<std::string>& options);

}  // namespace tilewright::nvrtc
