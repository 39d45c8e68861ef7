// Runs a program without a shell, with a time limit, in a private folder.
#include "runtime/assemble/process.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <iterator>

#include "tilewright/error.h"

extern char** environ;

namespace tilewright::assemble {
namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;

/// Both ends of a pipe, closed with the scope.
struct Pipe {
  std::array<int, 2> ends{-1, -1};
  Pipe() {
    if (pipe2(ends.data(), O_CLOEXEC) != 0) throw Error("no pipe: " + std::string(std::strerror(errno)));
  }
  Pipe(const Pipe&) = delete;
  Pipe& operator=(const Pipe&) = delete;
  ~Pipe() {
    close_end(0);
    close_end(1);
  }
  void close_end(int which) {
    if (ends[which] >= 0) close(ends[which]);
    ends[which] = -1;
  }
};

pid_t spawn(const std::vector<std::string>& arguments, const ProcessOptions& options, Pipe& out, Pipe& error) {
  std::vector<char*> argv;
  for (const std::string& argument : arguments) argv.push_back(const_cast<char*>(argument.c_str()));
  argv.push_back(nullptr);

  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_adddup2(&actions, out.ends[1], STDOUT_FILENO);
  posix_spawn_file_actions_adddup2(&actions, error.ends[1], STDERR_FILENO);
  if (!options.working_folder.empty())
    posix_spawn_file_actions_addchdir_np(&actions, options.working_folder.c_str());
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP);  // so that a timeout reaches its children
  posix_spawnattr_setpgroup(&attributes, 0);

  pid_t child = -1;
  const int failure = posix_spawn(&child, argv[0], &actions, &attributes, argv.data(), environ);
  posix_spawnattr_destroy(&attributes);
  posix_spawn_file_actions_destroy(&actions);
  if (failure != 0) throw Error("cannot run " + arguments[0] + ": " + std::strerror(failure));
  return child;
}

/// Reads both streams to their ends. False when the deadline comes first.
bool drain(Pipe& out, Pipe& error, ProcessResult& result, Clock::time_point deadline) {
  std::array<pollfd, 2> waits{pollfd{out.ends[0], POLLIN, 0}, pollfd{error.ends[0], POLLIN, 0}};
  const std::array<std::string*, 2> texts{&result.out, &result.error};
  while (waits[0].fd >= 0 || waits[1].fd >= 0) {
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(deadline - Clock::now()).count();
    if (left <= 0) return false;
    if (poll(waits.data(), waits.size(), static_cast<int>(left)) < 0 && errno != EINTR) return true;
    for (std::size_t i = 0; i < waits.size(); ++i) {
      if (waits[i].fd < 0 || waits[i].revents == 0) continue;
      std::array<char, 65536> buffer;
      const ssize_t count = read(waits[i].fd, buffer.data(), buffer.size());
      if (count > 0)
        texts[i]->append(buffer.data(), static_cast<std::size_t>(count));
      else if (count == 0 || errno != EINTR)
        waits[i].fd = -1;
    }
  }
  return true;
}

}  // namespace

std::string ProcessResult::describe() const {
  std::string text = timed_out          ? "stopped at its time limit"
                     : exit_code >= 128 ? "ended by signal " + std::to_string(exit_code - 128) + " or with status " +
                                              std::to_string(exit_code)
                                        : "exit status " + std::to_string(exit_code);
  for (const std::string* words : {&error, &out})
    if (!words->empty()) text += "\n" + *words;
  while (text.ends_with('\n')) text.pop_back();
  return text;
}

ProcessResult run_process(const std::vector<std::string>& arguments, const ProcessOptions& options) {
  ProcessResult result;
  Pipe out, error;
  const auto deadline = Clock::now() + options.timeout;
  const pid_t child = spawn(arguments, options, out, error);
  out.close_end(1);
  error.close_end(1);
  if (!drain(out, error, result, deadline)) {
    result.timed_out = true;
    kill(-child, SIGKILL);
  }
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  result.exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  return result;
}

TemporaryFolder::TemporaryFolder() {
  std::error_code failure;
  const fs::path parent = fs::temp_directory_path(failure);
  std::string name = ((failure ? fs::path("/tmp") : parent) / "tilewright-XXXXXX").string();
  if (mkdtemp(name.data()) == nullptr)
    throw Error("cannot make a temporary folder " + name + ": " + std::strerror(errno) +
                "; set TMPDIR to a folder that can be written");
  path_ = name;
}

TemporaryFolder::~TemporaryFolder() {
  std::error_code ignored;
  fs::remove_all(path_, ignored);
}

void write_file(const fs::path& path, std::string_view bytes) {
  std::ofstream stream(path, std::ios::binary);
  stream.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  stream.close();
  if (!stream) throw Error("cannot write " + path.string());
}

std::string read_file(const fs::path& path) {
  std::ifstream stream(path, std::ios::binary);
  if (!stream) throw Error("cannot read " + path.string());
  return {std::istreambuf_iterator<char>(stream), std::istreambuf_iterator<char>()};
}

}  // namespace tilewright::assemble
