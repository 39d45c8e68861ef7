// Kernels that were built before: from memory, from the disk, by another process.
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <csignal>
#include <filesystem>
#include <thread>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "examples/copy.h"
#include "runtime/assemble/process.h"
#include "runtime/assemble/tools.h"
#include "runtime/ops/build.h"
#include "runtime/ops/build_key.h"
#include "tests/unit/error_of.h"

namespace tilewright::ops {
namespace {

using test::error_of;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
namespace fs = std::filesystem;

class BuildCache : public testing::Test {
 protected:
  BuildCache() { ptx_only_.assemble = false; }

  /// The cache and the builder of a new process over the same folder.
  struct Process {
    explicit Process(BuildCache& test)
        : disk({test.folder_.path() / "cache", "TILEWRIGHT_CACHE_DIR"}, [&test](const std::string& text) { test.warnings_.push_back(text); }), builder(disk) {}
    cache::DiskCache disk;
    Builder builder;
    BuiltPointer build(const Source& source, const BuildOptions& options) { return builder.build({source}, options)[0]; }
  };
  BuiltPointer afresh(const Source& source, const BuildOptions& options) { return Process(*this).build(source, options); }

  /// A copy kernel that counts how often its program is made.
  Source source(std::string key = "copy", int rows = 64) {
    return {std::move(key), [this, rows] {
              ++made_;
              return examples::copy({.rows = rows});
            }};
  }
  /// A program in place of ptxas: it writes a line to the file `started`, and does as `script` says.
  fs::path assembler(const std::string& script, const char* version = "12.8.1") {
    const fs::path path = folder_.path() / "ptxas";
    assemble::write_file(path, "#!/bin/sh\n[ \"$1\" = --version ] && echo version >>" + started().string() + " && echo V" + version +
                                   " && exit\necho assemble >>" + started().string() + "\n" + script);
    fs::permissions(path, fs::perms::owner_all);
    return path;
  }
  fs::path started() const { return folder_.path() / "started"; }
  std::string starts() {
    const std::string text = fs::exists(started()) ? assemble::read_file(started()) : "";
    fs::remove(started());
    return text;
  }

  assemble::TemporaryFolder folder_;
  std::vector<std::string> warnings_;
  std::atomic<int> made_{0};
  BuildOptions ptx_only_;
};

/// Writes its last argument, the cubin, and reports resources as ptxas does.
constexpr const char* kAssembles = R"(for last; do :; done
echo "a cubin" > $last
echo "ptxas info    : Compiling entry function 'copy' for 'sm_90a'
ptxas info    : Function properties for copy
    0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads
ptxas info    : Used 24 registers, used 1 barriers" >&2
)";
constexpr const char* kSpills = R"(for last; do :; done
echo "a cubin" > $last
echo "ptxas info    : Compiling entry function 'copy' for 'sm_90a'
ptxas info    : Function properties for copy
    8 bytes stack frame, 8 bytes spill stores, 12 bytes spill loads
ptxas info    : Used 24 registers, used 1 barriers" >&2
)";

TEST_F(BuildCache, ComesFromTheDiskAsItWasMade) {
  BuildOptions options;
  options.ptxas = assembler(kAssembles);
  const BuiltPointer first = afresh(source(), options), second = afresh(source(), options);
  EXPECT_EQ(made_, 1);
  EXPECT_FALSE(first->making.from_disk);
  EXPECT_TRUE(second->making.from_disk);
  EXPECT_EQ(second->stages.name, "copy");
  EXPECT_EQ(second->stages.ptx, first->stages.ptx);
  EXPECT_EQ(second->stages.sidecar, first->stages.sidecar);
  EXPECT_EQ(second->assembled.cubin, first->assembled.cubin);
  EXPECT_EQ(second->assembled.log, first->assembled.log);
  EXPECT_EQ(second->assembled.assembler, "ptxas 12.8.1");
  ASSERT_EQ(second->assembled.kernels.size(), 1u);
  EXPECT_EQ(second->assembled.kernels[0].registers, 24u);
  EXPECT_EQ(second->assembled.kernels[0].assembler, "ptxas 12.8.1");
  EXPECT_EQ(second->program.name(), "copy");
  EXPECT_EQ(second->program.image().cubin, first->assembled.cubin);
  EXPECT_EQ(second->making.configuration, "copy");
  EXPECT_EQ(second->making.at, first->making.at);
  EXPECT_EQ(second->making.key, first->making.key);
  std::vector<std::string> steps;
  for (const auto& [name, milliseconds] : second->making.steps) {
    steps.push_back(name);
    EXPECT_GT(milliseconds, 0) << name;
  }
  EXPECT_THAT(steps, ElementsAre("program", "tile passes", "hopper passes", "code generation", "ptxas"));
  EXPECT_EQ(second->making.steps, first->making.steps);
  EXPECT_THAT(warnings_, IsEmpty());
}

TEST_F(BuildCache, AHitStartsNoAssembler) {
  BuildOptions options;
  options.ptxas = assembler(kAssembles);
  afresh(source(), options);
  EXPECT_EQ(starts(), "version\nassemble\n");
  afresh(source(), options);
  EXPECT_EQ(starts(), "");
}

TEST_F(BuildCache, TheVersionOfAnAssemblerIsKept) {
  // In a process that never asked: as if the file had been asked by another one.
  BuildOptions options;
  options.ptxas = assembler("exit 1\n");
  Process process(*this);
  assemble::ToolFile file = assemble::file_of(options.ptxas);
  cache::Record record;
  record.add("version", "12.9.7");
  process.disk.store(cache::KeyBuilder().add("version of", file.path.string()).add("bytes", file.bytes).add("changed", std::uint64_t(file.changed)).finish(), record);
  EXPECT_EQ(find_assembler(options, process.disk)->version, "12.9.7");
  EXPECT_EQ(starts(), "");
}

TEST_F(BuildCache, AnotherAssemblerMakesAnotherKernel) {
  BuildOptions options;
  options.ptxas = assembler(kAssembles);
  const BuiltPointer first = afresh(source(), options);
  fs::last_write_time(options.ptxas, fs::last_write_time(options.ptxas) - std::chrono::seconds(5));
  const BuiltPointer touched = afresh(source(), options);
  EXPECT_FALSE(touched->making.from_disk);
  options.ptxas = assembler(std::string(kAssembles) + "\n", "12.8.2");
  EXPECT_EQ(afresh(source(), options)->assembled.assembler, "ptxas 12.8.2");
  EXPECT_EQ(made_, 3);
  EXPECT_FALSE(afresh(source(), ptx_only_)->making.from_disk);
  EXPECT_TRUE(afresh(source(), ptx_only_)->making.from_disk);
  EXPECT_EQ(made_, 4);
}

TEST_F(BuildCache, TheConfigurationIsTheKey) {
  afresh(source("copy 64", 64), ptx_only_);
  EXPECT_FALSE(afresh(source("copy 128", 128), ptx_only_)->making.from_disk);
  EXPECT_TRUE(afresh(source("copy 64", 64), ptx_only_)->making.from_disk);
}

TEST_F(BuildCache, WithoutAConfigurationTheProgramIsTheKey) {
  const BuiltPointer first = afresh(source("", 64), ptx_only_), again = afresh(source("", 64), ptx_only_);
  EXPECT_TRUE(again->making.from_disk);
  EXPECT_EQ(again->making.configuration, "program copy");
  EXPECT_EQ(again->stages.ptx, first->stages.ptx);
  EXPECT_FALSE(afresh(source("", 128), ptx_only_)->making.from_disk);
  // The same operations at other lines: their .loc differ.
  const auto at_line = [&](int line) {
    return Source{"", [line] {
                    return kernel("lines", [&](Kernel& k) {
                      auto y = k.out<i32>("y", {32});
                      k.role("all", warps(1))([&] { line == 1 ? y.write({k.lane()}, k.lane())
                                                              : y.write({k.lane()},
                                                                        k.lane()); });
                    });
                  }};
  };
  EXPECT_FALSE(afresh(at_line(1), ptx_only_)->making.from_disk);
  EXPECT_FALSE(afresh(at_line(2), ptx_only_)->making.from_disk);
  EXPECT_TRUE(afresh(at_line(2), ptx_only_)->making.from_disk);
  Process process(*this);
  EXPECT_EQ(process.build(source("", 64), ptx_only_), process.build(source("", 64), ptx_only_));
}

TEST_F(BuildCache, KernelsWithCudaFunctionsAreNotKept) {
  // Their PTX depends on NVRTC and on the headers that the text includes, of which the key says nothing.
  for (const char* key : {"", "twice"}) {
    const Source source{key, [] {
                          return kernel("twice", [](Kernel& k) {
                            auto y = k.out<f32>("y", {32});
                            auto twice = k.cuda_function<Real(Real)>("float twice(float x) { return x + x; }", "twice");
                            k.role("all", warps(1))([&] { y.write({k.lane()}, twice(k.real(1.0))); });
                          });
                        }};
    EXPECT_TRUE(afresh(source, ptx_only_)->stages.calls_cuda);
    EXPECT_FALSE(afresh(source, ptx_only_)->making.from_disk) << key;
  }
}

TEST_F(BuildCache, StagesAreMadeAfresh) {
  BuildOptions stages = ptx_only_;
  stages.keep_stages = true;
  EXPECT_THAT(afresh(source(), stages)->stages.tile_ir, HasSubstr("tile.kernel"));
  EXPECT_TRUE(afresh(source(), ptx_only_)->making.from_disk);  // what was made is there for others
  EXPECT_THAT(afresh(source(), stages)->stages.tile_ir, HasSubstr("tile.kernel"));
  EXPECT_EQ(made_, 2);
}

TEST_F(BuildCache, ContractsHoldForStoredKernels) {
  BuildOptions strict;
  strict.ptxas = assembler(kSpills);
  BuildOptions lax = strict;
  lax.enforce_contract = false;
  const std::string refusal = error_of([&] { afresh(source(), strict); });
  EXPECT_THAT(refusal, testing::AllOf(testing::StartsWith("building copy: "), HasSubstr("copy.h:"), HasSubstr("kernel 'copy' (ptxas 12.8.1): spills registers")));
  EXPECT_FALSE(afresh(source(), lax)->making.from_disk);  // a refused kernel is not kept
  EXPECT_TRUE(afresh(source(), lax)->making.from_disk);
  EXPECT_EQ(error_of([&] { afresh(source(), strict); }), refusal);
  EXPECT_EQ(made_, 2);
}

TEST_F(BuildCache, ADamagedEntryIsReplaced) {
  const BuiltPointer first = afresh(source(), ptx_only_);
  const fs::path entry = folder_.path() / "cache" / "v1" / (first->making.key.text() + ".entry");
  fs::resize_file(entry, fs::file_size(entry) / 2);
  EXPECT_EQ(afresh(source(), ptx_only_)->stages.ptx, first->stages.ptx);
  EXPECT_THAT(warnings_, ElementsAre(HasSubstr(entry.string() + " is damaged")));
  EXPECT_TRUE(afresh(source(), ptx_only_)->making.from_disk);
  EXPECT_EQ(warnings_.size(), 1u);
  EXPECT_EQ(made_, 2);
}

TEST_F(BuildCache, AnEntryOfSomethingElseIsReplaced) {
  const BuiltPointer first = afresh(source(), ptx_only_);
  const auto store = [&](std::vector<std::pair<std::string, std::string>> sections) {
    cache::Record record;
    for (auto& [name, bytes] : sections) record.add(name, bytes);
    Process(*this).disk.store(first->making.key, record);
    warnings_.clear();
    EXPECT_FALSE(afresh(source(), ptx_only_)->making.from_disk);
    return warnings_.size() == 1 ? warnings_[0] : "";
  };
  EXPECT_THAT(store({{"other", "thing"}}), HasSubstr("is damaged: it is no kernel"));
  EXPECT_THAT(store({{"kernel", "{"}}), HasSubstr("its description cannot be read"));
  EXPECT_THAT(store({{"kernel", "[1]"}}), HasSubstr("its description cannot be read"));
  EXPECT_THAT(store({{"kernel", R"({"name":"copy","configuration":"","at":0,"steps":[],"assembler":"","dynamic_shared_bytes":0,"kernels":[]})"}}),
              HasSubstr("it has no section 'sidecar'"));
}

TEST_F(BuildCache, WithoutADiskEverythingIsMade) {
  assemble::write_file(folder_.path() / "cache", "a file");
  const BuiltPointer first = afresh(source(), ptx_only_);
  EXPECT_EQ(first->stages.name, "copy");
  EXPECT_EQ(warnings_.size(), 1u);
  EXPECT_FALSE(afresh(source(), ptx_only_)->making.from_disk);
}

TEST_F(BuildCache, ThreadsMakeAKernelOnce) {
  Process process(*this);
  std::vector<BuiltPointer> built(6);
  {
    std::vector<std::jthread> threads;
    for (std::size_t i = 0; i < built.size(); ++i)
      threads.emplace_back([&, i] { built[i] = process.builder.build({source("copy"), source("copy 128", 128), source("")}, ptx_only_)[i % 3]; });
  }
  EXPECT_EQ(made_, 2 + 6);  // a source without a configuration is made to see what it is
  EXPECT_EQ(built[0], built[3]);
  EXPECT_EQ(built[1], built[4]);
  EXPECT_EQ(built[2], built[5]);
  EXPECT_THAT(warnings_, IsEmpty());
}

/// Starts this test's body in a process of its own. Called before any thread runs.
template <class Body>
pid_t start(Body body) {
  const pid_t child = fork();
  if (child != 0) return child;
  int status = 1;
  try {
    status = body();
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
  }
  _exit(status);
}

TEST_F(BuildCache, ProcessesMakeAKernelOnce) {
  BuildOptions options;
  options.ptxas = assembler(std::string("sleep 0.2\n") + kAssembles);
  std::vector<pid_t> children;
  for (int i = 0; i < 3; ++i)
    children.push_back(start([&] { return afresh(source(), options)->assembled.cubin.empty() || !warnings_.empty() ? 1 : 0; }));
  for (const pid_t child : children) {
    int status = 0;
    waitpid(child, &status, 0);
    EXPECT_EQ(status, 0);
  }
  const std::string text = starts();
  std::size_t assembled = 0;
  for (std::size_t at = 0; (at = text.find("assemble", at)) != text.npos; ++at) ++assembled;
  EXPECT_EQ(assembled, 1u);
}

TEST_F(BuildCache, AKilledBuildBreaksNothing) {
  BuildOptions options;
  options.ptxas = assembler(std::string("echo 'half a cubin' > kernel.cubin; sleep 20\n") + kAssembles);
  for (int round = 0; round < 4; ++round) {
    const pid_t child = start([&] { return afresh(source(), options) ? 0 : 1; });
    if (round == 0)
      while (!fs::exists(started()) || assemble::read_file(started()).find("assemble") == std::string::npos)
        std::this_thread::sleep_for(std::chrono::milliseconds(5));  // inside the assembler
    else std::this_thread::sleep_for(std::chrono::milliseconds(15 * round));  // inside the compiler
    kill(child, SIGKILL);
    int status = 0;
    waitpid(child, &status, 0);
    EXPECT_TRUE(WIFSIGNALED(status));
  }
  options.ptxas = assembler(kAssembles);
  EXPECT_EQ(afresh(source(), options)->assembled.kernels.size(), 1u);
  EXPECT_TRUE(afresh(source(), options)->making.from_disk);
  EXPECT_THAT(warnings_, IsEmpty());
}

TEST_F(BuildCache, ProgressIsTold) {
  struct Call {
    std::string kernel, step;
    unsigned done, total;
    bool operator==(const Call&) const = default;
  };
  std::vector<Call> calls;
  BuildOptions options = ptx_only_;
  options.progress = [](void* user, const Progress& p) { static_cast<std::vector<Call>*>(user)->push_back({p.kernel, p.step, p.done, p.total}); };
  options.progress_user = &calls;
  Process process(*this);
  process.build(source(), options);
  EXPECT_THAT(calls, ElementsAre(Call{"copy", "program", 0, 4}, Call{"copy", "tile passes", 1, 4}, Call{"copy", "hopper passes", 2, 4},
                                 Call{"copy", "code generation", 3, 4}, Call{"copy", "done", 4, 4}));
  calls.clear();
  process.build(source(), options);
  EXPECT_THAT(calls, ElementsAre(Call{"copy", "cache", 4, 4}));
  calls.clear();
  process.builder.build({source(), source("copy 128", 128), source("")}, options);
  ASSERT_GE(calls.size(), 10u);
  EXPECT_EQ(calls.back().done, 12u);
  for (std::size_t i = 0; i < calls.size(); ++i) {
    EXPECT_EQ(calls[i].total, 12u);
    if (i > 0) EXPECT_GE(calls[i].done, calls[i - 1].done);
  }
}

}  // namespace
}  // namespace tilewright::ops
