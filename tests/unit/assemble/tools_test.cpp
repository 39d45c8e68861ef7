#include "runtime/assemble/tools.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <map>

#include "../error_of.h"
#include "runtime/assemble/assemble.h"
#include "runtime/assemble/process.h"
#include "sample_ptx.h"

namespace tilewright::assemble {
namespace {

namespace fs = std::filesystem;
using test::error_of;
using testing::HasSubstr;

/// A machine of our own making: a folder with programs, and the environment variables that the look-up reads.
class ToolsTest : public testing::Test {
 protected:
  ToolsTest() {
    for (const char* name : {"TILEWRIGHT_PTXAS", "TILEWRIGHT_NVDISASM", "TILEWRIGHT_TOOLS", "CUDA_HOME", "PATH"}) {
      const char* value = std::getenv(name);
      saved[name] = value != nullptr ? value : "";
      unsetenv(name);
    }
    set("TILEWRIGHT_TOOLS", root / "tools");
  }
  ~ToolsTest() override {
    for (const auto& [name, value] : saved)
      if (value.empty())
        unsetenv(name.c_str());
      else
        setenv(name.c_str(), value.c_str(), 1);
  }
  void set(const char* name, const fs::path& value) { setenv(name, value.c_str(), 1); }
  fs::path program(const fs::path& below, const std::string& script) {
    const fs::path path = root / below;
    fs::create_directories(path.parent_path());
    write_file(path, "#!/bin/sh\n" + script);
    fs::permissions(path, fs::perms::owner_all);
    return path;
  }

  std::map<std::string, std::string> saved;
  TemporaryFolder folder;
  fs::path root = folder.path();
};

TEST_F(ToolsTest, LooksInTheDocumentedOrder) {
  EXPECT_FALSE(find_tool(Tool::ptxas));
  const auto expect = [](const fs::path& path, const char* origin) {
    const auto found = find_tool(Tool::ptxas);
    ASSERT_TRUE(found);
    EXPECT_EQ(found->path, path);
    EXPECT_EQ(found->origin, origin);
  };
  const fs::path in_path = program("bin/ptxas", "");
  setenv("PATH", ("/nowhere::" + (root / "bin").string()).c_str(), 1);
  expect(in_path, "PATH");
  const fs::path in_home = program("cuda/bin/ptxas", "");
  set("CUDA_HOME", root / "cuda");
  expect(in_home, "CUDA_HOME");
  const fs::path newer = program("tools/cuda-13.0/bin/ptxas", "");
  expect(newer, "tools folder");
  const fs::path floor = program("tools/cuda-12.8/bin/ptxas", "");
  expect(floor, "tools folder");
  const fs::path own = program("own", "");
  set("TILEWRIGHT_PTXAS", own);
  expect(own, "TILEWRIGHT_PTXAS");
  ASSERT_EQ(contract_assemblers().size(), 2u);
  EXPECT_EQ(contract_assemblers()[0].path, floor);
  EXPECT_EQ(contract_assemblers()[1].path, newer);
  EXPECT_FALSE(find_tool(Tool::nvdisasm));
  program("tools/nvdisasm/bin/nvdisasm", "");
  EXPECT_EQ(require_tool(Tool::nvdisasm).origin, "tools folder");
}

TEST_F(ToolsTest, WrongVariableIsNotPassedOver) {
  set("TILEWRIGHT_PTXAS", root);
  EXPECT_EQ(error_of([] { find_tool(Tool::ptxas); }),
            "TILEWRIGHT_PTXAS names '" + root.string() + "', which is not an executable file: expected the path of ptxas");
}

TEST_F(ToolsTest, MissingToolSaysWhereItWasLookedFor) {
  EXPECT_EQ(error_of([] { require_tool(Tool::ptxas); }),
            "no ptxas: looked at TILEWRIGHT_PTXAS (not set), the tools folder " + (root / "tools").string() +
                ", CUDA_HOME (not set) and PATH; run scripts/setup.sh, or install the wheel "
                "nvidia-cuda-nvcc-cu12==12.8.93 and set TILEWRIGHT_PTXAS");
  EXPECT_THAT(error_of([] { disassemble({}); }), HasSubstr("no nvdisasm: looked at TILEWRIGHT_NVDISASM (not set)"));
}

TEST_F(ToolsTest, WithoutPtxasTheDriverAssembles) {
  const Assembled result = assemble(samples::kClean);
  EXPECT_TRUE(result.cubin.empty());
  EXPECT_TRUE(result.kernels.empty());
  EXPECT_EQ(result.assembler, "driver");
}

TEST_F(ToolsTest, VersionComesFromTheProgram) {
  EXPECT_EQ(version_of(program("good", "echo 'Cuda compilation tools, release 12.8, V12.8.93'")), "12.8.93");
  EXPECT_THAT(error_of([&] { version_of(program("odd", "echo hello")); }),
              HasSubstr("--version says no version: exit status 0\nhello; expected a CUDA tool"));
}

TEST_F(ToolsTest, SlowAssemblerIsStopped) {
  AssembleOptions options;
  options.ptxas = program("slow", "[ \"$1\" = --version ] && echo V12.8.1 && exit\nread x < /dev/zero & wait\n");
  options.timeout = std::chrono::milliseconds(200);
  EXPECT_EQ(error_of([&] { assemble(samples::kClean, options); }), "ptxas 12.8.1 did not finish within 200 ms");
}

TEST_F(ToolsTest, CrashingAssemblerIsReported) {
  AssembleOptions options;
  options.ptxas = program("crash", "[ \"$1\" = --version ] && echo V12.8.2 && exit\nkill -SEGV $$\n");
  EXPECT_EQ(error_of([&] { assemble(samples::kClean, options); }),
            "ptxas 12.8.2 refused the PTX:\nended by signal 11 or with status 139");
}

TEST_F(ToolsTest, ProcessesGetNoShellAndBothStreams) {
  const ProcessResult result =
      run_process({program("both", "echo \"$1\"; echo err >&2; pwd; exit 3").string(), "a b;c"}, {root, {}});
  EXPECT_TRUE(result.timed_out);  // a limit of 0
  const ProcessResult whole = run_process({(root / "both").string(), "a b;$c"}, {root});
  EXPECT_EQ(whole.exit_code, 3);
  EXPECT_EQ(whole.out, "a b;$c\n" + root.string() + "\n");
  EXPECT_EQ(whole.error, "err\n");
  EXPECT_THAT(error_of([&] { run_process({(root / "none").string()}, {}); }), HasSubstr("cannot run "));
}

}  // namespace
}  // namespace tilewright::assemble
