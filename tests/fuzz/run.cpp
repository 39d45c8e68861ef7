#include "tests/fuzz/run.h"

#include <chrono>
#include <cstring>

#include <fmt/format.h>

#include "compiler/compile.h"
#include "compiler/evaluate/evaluate.h"
#include "runtime/program/program.h"
#include "tests/fuzz/emit.h"
#include "tilewright/half.h"

namespace tilewright::fuzz {
namespace {

constexpr std::size_t kGuard = 256;
constexpr std::uint8_t kUnwritten = 0xff, kGuardByte = 0xa5;

/// Small integers, so that sums are exact.
int datum(const std::string& name, std::size_t at) {
  std::uint64_t h = 1469598103934665603ull;
  for (char c : name) h = (h ^ static_cast<unsigned char>(c)) * 1099511628211ull;
  h = (h + at) * 0x9E3779B97F4A7C15ull;
  h ^= h >> 32;
  return static_cast<int>(h * 0xBF58476D1CE4E5B9ull >> 40) % 7 - 3;
}

template <class T>
void put(std::vector<std::uint8_t>& bytes, std::size_t at, T value) { std::memcpy(&bytes[at], &value, sizeof value); }
template <class T>
T word(const std::uint8_t* at) {
  T value;
  std::memcpy(&value, at, sizeof value);
  return value;
}

std::size_t count_of(const Argument& a) {
  std::size_t n = 1;
  for (auto e : a.shape) n *= static_cast<std::size_t>(e);
  return n;
}

void store(std::vector<std::uint8_t>& bytes, std::size_t at, const std::string& element, int value) {
  if (element == "f32") put(bytes, at, static_cast<float>(value));
  else if (element == "bf16") put(bytes, at, bf16_from_float(static_cast<float>(value)));
  else if (element == "f16") put(bytes, at, f16_from_float(static_cast<float>(value)));
  else if (element == "i32") put(bytes, at, value);
  else put(bytes, at, std::int64_t{value});
}
double read(const std::uint8_t* at, const std::string& element) {
  if (element == "f32") return word<float>(at);
  if (element == "bf16") return float_from_bf16(word<std::uint16_t>(at));
  if (element == "f16") return float_from_f16(word<std::uint16_t>(at));
  if (element == "i32") return word<std::int32_t>(at);
  return static_cast<double>(word<std::int64_t>(at));
}

evaluate::Tensor expected_tensor(const Argument& a) {
  evaluate::Tensor t{a.element, a.shape, {}};
  const std::size_t n = count_of(a);
  t.values.resize(n);
  const float nan = std::numeric_limits<float>::quiet_NaN();
  for (std::size_t i = 0; i < n; ++i) {
    const bool integer = a.element[0] == 'i', empty = a.role == "out";
    const float v = a.name == "next" ? 0.0f : static_cast<float>(datum(a.name, i));
    if (integer) t.values[i] = evaluate::Word(empty ? std::int64_t{-1} : static_cast<std::int64_t>(v));
    else t.values[i] = evaluate::Word(empty ? evaluate::Interval{nan, nan} : evaluate::Interval{v, v});
  }
  return t;
}

/// Empty where the tensor is as expected.
std::string difference(const Argument& a, const std::uint8_t* bytes, const evaluate::Tensor& expected) {
  const int size = bytes_of(a.element);
  std::string first;
  std::size_t wrong = 0;
  for (std::size_t i = 0; i < expected.values.size(); ++i) {
    const double given = read(bytes + i * size, a.element);
    const evaluate::Word& w = expected.values[i];
    const bool integer = a.element[0] == 'i';
    if (integer ? given == static_cast<double>(w.integer) : w.real.holds(static_cast<float>(given))) continue;
    if (wrong++ > 0) continue;
    std::string at;
    std::size_t rest = i;
    for (std::size_t axis = a.shape.size(); axis-- > 0; rest /= static_cast<std::size_t>(a.shape[axis]))
      at = std::to_string(rest % static_cast<std::size_t>(a.shape[axis])) + (at.empty() ? "" : ", ") + at;
    first = fmt::format("{}[{}] is {}, expected {}", a.name, at, given,
                        integer ? std::to_string(w.integer) : w.real.exact() || w.real.nan() ? fmt::format("{}", w.real.lo) : fmt::format("{} to {}", w.real.lo, w.real.hi));
  }
  return wrong == 0 ? "" : fmt::format("{}; {} of {} elements", first, wrong, expected.values.size());
}

class Clock {
 public:
  double lap() {
    const auto now = std::chrono::steady_clock::now();
    const double ms = std::chrono::duration<double, std::milli>(now - last_).count();
    last_ = now;
    return ms;
  }

 private:
  std::chrono::steady_clock::time_point last_ = std::chrono::steady_clock::now();
};

void execute(const Program& model, const Emitted& emitted, std::string ptx, const std::string& sidecar, runtime::Device& device, Outcome& out, Clock& clock) {
  const auto loadable = program::Program::from(sidecar, std::move(ptx));
  const auto kernel = device.load(loadable.image());
  struct Memory {
    runtime::DeviceAddress base;
    std::vector<std::uint8_t> before;
  };
  std::vector<Memory> memory;
  program::TensorArguments arguments;
  for (const Argument& a : emitted.tensors) {
    const std::size_t bytes = count_of(a) * bytes_of(a.element);
    std::vector<std::uint8_t> all(bytes + 2 * kGuard, kGuardByte);
    std::fill(all.begin() + kGuard, all.end() - kGuard, kUnwritten);
    if (a.role != "out")
      for (std::size_t i = 0; i < count_of(a); ++i) store(all, kGuard + i * bytes_of(a.element), a.element, a.name == "next" ? 0 : datum(a.name, i));
    memory.push_back({device.allocate(all.size()), all});
    device.copy_to_device(memory.back().base, all.data(), all.size());
    arguments[a.name] = {memory.back().base + kGuard, a.shape, {}, a.element};
  }
  program::Scalars scalars;
  if (model.trip_form != 0) scalars["n"] = std::int64_t{model.trips};
  std::string stopped;
  try {
    program::launch(device, *kernel, loadable, arguments, scalars);
    device.synchronize();
  } catch (const Error& e) {
    stopped = e.what();
  }
  std::vector<std::vector<std::uint8_t>> after;
  for (const Memory& m : memory) {
    after.emplace_back(m.before.size());
    if (stopped.empty()) device.copy_to_host(after.back().data(), m.base, m.before.size());
    device.release(m.base);
  }
  out.milliseconds[1] = clock.lap();
  if (!stopped.empty()) {
    out.kind = "device", out.message = stopped;
    return;
  }
  evaluate::Arguments expected;
  expected.grid = {model.grid, 1, 1};
  if (model.trip_form != 0) expected.integers["n"] = model.trips;
  for (const Argument& a : emitted.tensors) expected.tensors[a.name] = expected_tensor(a);
  evaluate::evaluate(emitted.program, expected);
  out.milliseconds[2] = clock.lap();
  for (std::size_t i = 0; i < memory.size(); ++i) {
    const Argument& a = emitted.tensors[i];
    const auto same = [&](std::size_t from, std::size_t to) { return std::equal(after[i].begin() + from, after[i].begin() + to, memory[i].before.begin() + from); };
    const std::size_t end = after[i].size();
    if (!same(0, kGuard) || !same(end - kGuard, end) || (a.role == "in" && !same(kGuard, end - kGuard))) {
      out.kind = "memory", out.message = "memory around " + a.name + " was written";
      return;
    }
    if (a.role == "in") continue;
    const std::string wrong = difference(a, after[i].data() + kGuard, expected.tensors.at(a.name));
    if (wrong.empty()) continue;
    out.kind = "mismatch", out.message = wrong;
    return;
  }
}

Outcome run_once(const Program& model, runtime::Device& device, const Plant& plant) {
  Outcome out;
  Clock clock;
  try {
    Emitted emitted = emit(model);
    compiler::Options options;
    options.keep_stages = false;
    compiler::Compiled compiled = compiler::compile(emitted.program, options);
    out.milliseconds[0] = clock.lap();
    if (!model.rejection.empty()) {
      out.kind = "accepted", out.message = "expected an error with '" + model.rejection + "'";
      return out;
    }
    if (plant) plant(compiled.ptx);
    execute(model, emitted, std::move(compiled.ptx), compiled.sidecar, device, out, clock);
  } catch (const CompileError& e) {
    const std::string message = e.what();
    if (model.rejection.empty() || message.find(model.rejection) == std::string::npos) out.kind = "refused", out.message = message;
  } catch (const evaluate::Undefined& e) {
    out.kind = "undefined", out.message = e.what();
  } catch (const std::exception& e) {
    out.kind = "internal", out.message = e.what();
  }
  return out;
}

}  // namespace

Outcome run(const Program& model, runtime::Device& device, const Plant& plant) {
  Outcome out = run_once(model, device, plant);
  // Rounds within rounds can be more than the verifier follows. Then it says so, and an author waives what he knows.
  if (out.kind != "refused" || model.waived || out.message.find(R"(k.waive("kernel", "starvation", reason))") == std::string::npos) return out;
  Program waived = model;
  waived.waived = true;
  return run_once(waived, device, plant);
}

}  // namespace tilewright::fuzz
