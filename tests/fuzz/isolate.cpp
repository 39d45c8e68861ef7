#include "tests/fuzz/isolate.h"

#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <chrono>
#include <cstring>
#include <memory>

namespace tilewright::fuzz {
namespace {

using Clock = std::chrono::steady_clock;
constexpr std::size_t kBatch = 32;   // programs of one process
constexpr double kPatience = 20;     // a program that waits may take as often the time limit of one that computes

/// A child, and what it is about. It writes a line for each program that ends: its outcome as JSON.
struct Child {
  pid_t pid = -1;
  int pipe = -1;
  std::size_t at = 0, end = 0;  // the program that runs, and the one behind the last
  std::string text;
  Clock::time_point since;
  double cpu_since = 0;
};

/// CPU seconds that a process has used; on a machine with much to do the time of day says little.
double cpu_seconds(pid_t pid) {
  clockid_t clock;
  timespec used{};
  if (::clock_getcpuclockid(pid, &clock) != 0 || ::clock_gettime(clock, &used) != 0) return 0;
  return static_cast<double>(used.tv_sec) + 1e-9 * static_cast<double>(used.tv_nsec);
}

nlohmann::json to_json(const Outcome& o) { return {{"kind", o.kind}, {"message", o.message}, {"compile", o.milliseconds[0]}, {"device", o.milliseconds[1]}, {"evaluate", o.milliseconds[2]}}; }
Outcome from_json(const nlohmann::json& j) {
  return {j.at("kind"), j.at("message"), {j.at("compile"), j.at("device"), j.at("evaluate")}};
}

[[noreturn]] void work(int pipe, const std::string& device_name, std::size_t from, std::size_t to, const std::function<Program(std::size_t)>& make) {
  std::unique_ptr<runtime::Device> device;
  for (std::size_t i = from; i < to; ++i) {
    Outcome outcome;
    try {
      if (!device) device = runtime::make_device(device_name);
      outcome = run(make(i), *device);
    } catch (const std::exception& e) {
      outcome = {"internal", e.what(), {0, 0, 0}};
    }
    const std::string line = to_json(outcome).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace) + "\n";
    for (std::size_t written = 0; written < line.size();) {
      const ssize_t n = ::write(pipe, line.data() + written, line.size() - written);
      if (n <= 0) ::_exit(3);
      written += static_cast<std::size_t>(n);
    }
    if (outcome.kind == "device" && device_name == "cuda") ::_exit(0);  // a fault ends the context
  }
  ::_exit(0);
}

}  // namespace

void run_isolated(std::size_t count, const Limits& limits, const std::function<Program(std::size_t)>& make, const std::function<void(std::size_t, const Outcome&)>& done) {
  std::vector<Child> children;
  std::vector<std::pair<std::size_t, std::size_t>> ranges;  // to be run, the next one last
  for (std::size_t begin = count; begin > 0;) {
    const std::size_t from = (begin - 1) / kBatch * kBatch;
    ranges.push_back({from, begin});
    begin = from;
  }
  const auto start = [&](std::size_t from, std::size_t to) {
    int ends[2];
    if (::pipe(ends) != 0) throw Error(std::string("fuzz: pipe: ") + std::strerror(errno));
    const pid_t pid = ::fork();
    if (pid < 0) throw Error(std::string("fuzz: fork: ") + std::strerror(errno));
    if (pid == 0) {
      ::close(ends[0]);
      work(ends[1], limits.device, from, to, make);
    }
    ::close(ends[1]);
    children.push_back({pid, ends[0], from, to, "", Clock::now(), 0});
  };
  const auto lines = [&](Child& c) {
    for (std::size_t end; (end = c.text.find('\n')) != std::string::npos; c.text.erase(0, end + 1)) {
      done(c.at++, from_json(nlohmann::json::parse(c.text.substr(0, end))));
      c.since = Clock::now();
      c.cpu_since = cpu_seconds(c.pid);
    }
  };
  /// The child is gone; what it has not done goes to another.
  const auto finish = [&](Child& c, bool killed) {
    int status = 0;
    ::waitpid(c.pid, &status, 0);
    ::close(c.pipe);
    if (c.at == c.end) return;
    const bool ended_itself = WIFEXITED(status) && WEXITSTATUS(status) == 0;
    if (killed) done(c.at++, {"hang", "no end within the time limit", {0, 0, 0}});
    else if (!ended_itself) done(c.at++, {"crash", WIFSIGNALED(status) ? std::string("signal ") + ::strsignal(WTERMSIG(status)) : "exit status " + std::to_string(WEXITSTATUS(status)), {0, 0, 0}});
    if (c.at < c.end) ranges.push_back({c.at, c.end});
  };
  while (!ranges.empty() || !children.empty()) {
    while (!ranges.empty() && static_cast<int>(children.size()) < limits.jobs) {
      const auto [from, to] = ranges.back();
      ranges.pop_back();
      start(from, to);
    }
    std::vector<pollfd> polls;
    for (const Child& c : children) polls.push_back({c.pipe, POLLIN, 0});
    ::poll(polls.data(), polls.size(), 200);
    for (std::size_t i = children.size(); i-- > 0;) {
      Child& c = children[i];
      bool gone = false, killed = false;
      if (polls[i].revents & (POLLIN | POLLHUP)) {
        char buffer[4096];
        const ssize_t n = ::read(c.pipe, buffer, sizeof buffer);
        if (n > 0) c.text.append(buffer, static_cast<std::size_t>(n)), lines(c);
        else gone = true;
      }
      const double passed = std::chrono::duration<double>(Clock::now() - c.since).count();
      if (!gone && passed > limits.seconds && (cpu_seconds(c.pid) - c.cpu_since > limits.seconds || passed > kPatience * limits.seconds)) {
        ::kill(c.pid, SIGKILL);
        gone = killed = true;
      }
      if (!gone) continue;
      const Child ended = std::move(c);
      children.erase(children.begin() + static_cast<std::ptrdiff_t>(i));
      Child copy = ended;
      finish(copy, killed);
    }
  }
}

Outcome run_isolated(const Program& program, const Limits& limits) {
  Outcome out;
  Limits one = limits;
  one.jobs = 1;
  run_isolated(1, one, [&](std::size_t) { return program; }, [&](std::size_t, const Outcome& o) { out = o; });
  return out;
}

}  // namespace tilewright::fuzz
