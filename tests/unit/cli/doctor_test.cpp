// tilewright doctor
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/cli/started.h"

namespace tilewright::cli {
namespace {

using test::Shell;
using test::Started;
using testing::HasSubstr;

nlohmann::json finding(const nlohmann::json& report, const std::string& name) {
  for (const auto& f : report["findings"])
    if (f["name"] == name) return f;
  return {{"state", "not reported"}, {"what", ""}, {"mend", ""}};
}

/// The machine as it is, but for what a test sets.
class Doctor : public testing::Test {
 protected:
  Doctor() { shell_.set("TILEWRIGHT_LIBCUDA="); }
  nlohmann::json report(int status) {
    const Started r = shell_.run("doctor --json");
    EXPECT_EQ(r.status, status) << r.out << r.err;
    const nlohmann::json json = r.json();
    EXPECT_EQ(json["healthy"], status == 0);
    for (const auto& f : json["findings"]) EXPECT_EQ(f["mend"] == "", f["state"] == "ok") << f;
    return json;
  }
  std::filesystem::path script(const std::string& name, const std::string& text) {
    const auto path = shell_.folder() / name;
    assemble::write_file(path, "#!/bin/sh\n" + text);
    std::filesystem::permissions(path, std::filesystem::perms::owner_all);
    return path;
  }
  Shell shell_;
};

TEST_F(Doctor, SaysWhatIsThere) {
  const auto json = report(0);
  for (const char* name : {"tilewright", "ptxas", "ptxas 12.8", "ptxas 13.0", "nvdisasm", "NVRTC", "cache", "temporary folder"})
    EXPECT_EQ(finding(json, name)["state"], "ok") << name << finding(json, name);
  EXPECT_THAT(finding(json, "ptxas 12.8")["what"], HasSubstr("12.8."));
  EXPECT_THAT(finding(json, "tilewright")["what"].get<std::string>(), HasSubstr("build "));
  EXPECT_THAT(finding(json, "cache")["what"], HasSubstr(shell_.cache().string() + " (TILEWRIGHT_CACHE_DIR), 0 entries"));
  const Started text = shell_.run("doctor");
  EXPECT_EQ(text.status, 0);
  EXPECT_THAT(text.out, HasSubstr("ready for the "));
}

TEST_F(Doctor, ACard) {
  shell_.set(std::string("TILEWRIGHT_LIBCUDA=") + FAKE_LIBCUDA);
  const auto json = report(0);
  EXPECT_EQ(json["hopper"], true);
  EXPECT_THAT(finding(json, "driver")["what"], HasSubstr("for CUDA 12.8"));
  EXPECT_THAT(finding(json, "card 0")["what"], HasSubstr("114 SMs, compute capability 9.0"));
  EXPECT_EQ(shell_.run("doctor --card").status, 0);
  shell_.set("TILEWRIGHT_LIBCUDA=/nowhere/libcuda.so.1");
  EXPECT_EQ(finding(report(1), "driver")["state"], "broken");
  EXPECT_EQ(shell_.run("doctor --card").status, 1);
}

TEST_F(Doctor, WithoutTools) {
  shell_.set("TILEWRIGHT_TOOLS=" + shell_.folder().string());
  shell_.set("PATH=");
  shell_.set("CUDA_HOME=");
  const auto json = report(0);  // the simulated device needs none of them
  for (const char* name : {"ptxas", "ptxas 12.8", "ptxas 13.0", "nvdisasm"}) EXPECT_EQ(finding(json, name)["state"], "absent") << name;
  EXPECT_THAT(finding(json, "ptxas")["what"], HasSubstr("nvidia-cuda-nvcc-cu12==12.8.93"));
  EXPECT_THAT(finding(json, "ptxas 12.8")["mend"], HasSubstr("scripts/setup.sh"));
}

TEST_F(Doctor, BrokenTools) {
  shell_.set("TILEWRIGHT_PTXAS=/nowhere/ptxas");
  EXPECT_THAT(finding(report(1), "ptxas")["what"], HasSubstr("TILEWRIGHT_PTXAS names '/nowhere/ptxas', which is not an executable file"));
  shell_.set("TILEWRIGHT_PTXAS=" + script("old", "echo release 12.4, V12.4.131\n").string());
  EXPECT_THAT(finding(report(1), "ptxas")["what"], HasSubstr("12.4.131"));
  EXPECT_THAT(finding(report(1), "ptxas")["what"], HasSubstr("needs 12.8 or newer"));
  shell_.set("TILEWRIGHT_PTXAS=" + script("silent", "exit 3\n").string());
  EXPECT_THAT(finding(report(1), "ptxas")["what"], HasSubstr("--version says no version: exit status 3"));
}

TEST_F(Doctor, BrokenFolders) {
  assemble::write_file(shell_.cache(), "a file");
  const Started r = shell_.run("doctor");
  EXPECT_EQ(r.status, 1);
  EXPECT_THAT(r.out, HasSubstr("something is broken"));
  EXPECT_EQ(finding(report(1), "cache")["state"], "broken");
  EXPECT_THAT(finding(report(1), "cache")["what"], HasSubstr("Not a directory"));
  shell_.set("TILEWRIGHT_CACHE_DIR=");
  EXPECT_EQ(finding(report(0), "cache")["state"], "absent");
  shell_.set("TMPDIR=/nowhere");
  report(0);  // falls back to /tmp
}

}  // namespace
}  // namespace tilewright::cli
