#include "tests/device/launch.h"

#include <cmath>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <limits>

#include "runtime/program/program.h"
#include "compiler/compile.h"
#include "tilewright/half.h"

namespace tilewright::test {
namespace {

constexpr std::size_t kGuard = 1024;
constexpr std::uint8_t kPoison = 0xff, kGuardByte = 0xa5;

runtime::Device& device() {
  static std::unique_ptr<runtime::Device> one = runtime::make_device(
      std::getenv("TILEWRIGHT_TEST_DEVICE") ? std::getenv("TILEWRIGHT_TEST_DEVICE") : "auto");
  return *one;
}

template <class T>
void append(std::vector<std::uint8_t>& bytes, T value) {
  auto* first = reinterpret_cast<const std::uint8_t*>(&value);
  bytes.insert(bytes.end(), first, first + sizeof value);
}

std::vector<std::uint8_t> encode(const Array& a) {
  std::vector<std::uint8_t> bytes;
  for (double v : a.values) {
    if (a.element == "f32") append(bytes, static_cast<float>(v));
    else if (a.element == "bf16") append(bytes, bf16_from_float(static_cast<float>(v)));
    else if (a.element == "f16") append(bytes, f16_from_float(static_cast<float>(v)));
    else if (a.element == "i32") append(bytes, static_cast<std::int32_t>(v));
    else append(bytes, static_cast<std::int64_t>(v));
  }
  return bytes;
}

template <class T>
T word(const std::uint8_t* at) {
  T value;
  std::memcpy(&value, at, sizeof value);
  return value;
}

void decode(Array& a, const std::uint8_t* bytes) {
  const unsigned size = program::element_bytes(a.element);
  for (double& v : a.values) {
    if (a.element == "f32") v = word<float>(bytes);
    else if (a.element == "bf16") v = float_from_bf16(word<std::uint16_t>(bytes));
    else if (a.element == "f16") v = float_from_f16(word<std::uint16_t>(bytes));
    else if (a.element == "i32") v = word<std::int32_t>(bytes);
    else v = static_cast<double>(word<std::int64_t>(bytes));
    bytes += size;
  }
}

/// With TILEWRIGHT_TEST_DUMP=<folder> the stages of every program are left there.
void dump(const compiler::Compiled& kernel) {
  const char* folder = std::getenv("TILEWRIGHT_TEST_DUMP");
  if (!folder) return;
  std::string stem = std::string(folder) + "/" + kernel.name;
  std::ofstream(stem + ".tile.mlir") << kernel.tile_ir;
  std::ofstream(stem + ".hopper.mlir") << kernel.hopper_ir;
  std::ofstream(stem + ".ptx") << kernel.ptx;
}

}  // namespace

std::int64_t Array::count() const {
  std::int64_t n = 1;
  for (auto extent : shape) n *= extent;
  return n;
}

double rounded(const std::string& element, double v) {
  if (element == "f32") return static_cast<float>(v);
  if (element == "bf16") return float_from_bf16(bf16_from_float(static_cast<float>(v)));
  if (element == "f16") return float_from_f16(f16_from_float(static_cast<float>(v)));
  return std::trunc(v);
}

Array array(std::string element, std::vector<std::int64_t> shape, const std::function<double(std::int64_t)>& f) {
  Array a{std::move(element), std::move(shape), {}};
  a.values.resize(a.count());
  for (std::int64_t i = 0; i < a.count(); ++i) a.values[i] = rounded(a.element, f(i));
  return a;
}

Array noise(std::string element, std::vector<std::int64_t> shape, unsigned seed) {
  std::uint64_t state = seed * 0x9E3779B97F4A7C15ull + 1;
  return array(std::move(element), std::move(shape), [&](std::int64_t) {
    state = state * 6364136223846793005ull + 1442695040888963407ull;
    return static_cast<double>(state >> 40) / (1 << 23) - 1.0;
  });
}

Launch::Launch(const Program& program) : program_(program) {}

Launch& Launch::in(const std::string& name, Array data) {
  tensors_[name] = {std::move(data), false, false};
  return *this;
}
Launch& Launch::out(const std::string& name, std::string element, std::vector<std::int64_t> shape) {
  Array a{std::move(element), std::move(shape), {}};
  a.values.resize(a.count());
  tensors_[name] = {std::move(a), true, true};
  return *this;
}
Launch& Launch::inout(const std::string& name, Array data) {
  tensors_[name] = {std::move(data), true, false};
  return *this;
}
Launch& Launch::scalar(const std::string& name, std::int64_t value) {
  integers_[name] = value;
  return *this;
}
Launch& Launch::scalar(const std::string& name, double value) {
  reals_[name] = value;
  return *this;
}

bool simulated() { return device().kind() == "sim"; }

Launch& Launch::run() {
  compiler::Options options;
  options.keep_stages = std::getenv("TILEWRIGHT_TEST_DUMP") != nullptr;
  compiler::Compiled compiled = compiler::compile(program_, options);
  dump(compiled);
  auto loadable = program::Program::from(compiled.sidecar, compiled.ptx);
  auto kernel = device().load(loadable.image());

  struct Memory {
    runtime::DeviceAddress base;
    std::vector<std::uint8_t> before;
  };
  std::map<std::string, Memory> memory;
  program::TensorArguments arguments;
  for (auto& [name, tensor] : tensors_) {
    std::vector<std::uint8_t> bytes = encode(tensor.data);
    if (tensor.begins_empty) std::fill(bytes.begin(), bytes.end(), kPoison);
    std::vector<std::uint8_t> all(kGuard, kGuardByte);
    all.insert(all.end(), bytes.begin(), bytes.end());
    all.resize(all.size() + kGuard, kGuardByte);
    Memory m{device().allocate(all.size()), all};
    device().copy_to_device(m.base, all.data(), all.size());
    arguments[name] = {m.base + kGuard, tensor.data.shape, {}, tensor.data.element};
    memory.emplace(name, std::move(m));
  }
  program::Scalars scalars;
  for (auto& [name, v] : integers_) scalars[name] = v;
  for (auto& [name, v] : reals_) scalars[name] = v;
  program::launch(device(), *kernel, loadable, arguments, scalars);
  device().synchronize();

  for (auto& [name, m] : memory) {
    std::vector<std::uint8_t> after(m.before.size());
    device().copy_to_host(after.data(), m.base, after.size());
    device().release(m.base);
    auto same = [&](std::size_t from, std::size_t to) {
      return std::equal(after.begin() + from, after.begin() + to, m.before.begin() + from);
    };
    EXPECT_TRUE(same(0, kGuard)) << "memory before tensor '" << name << "' was written";
    EXPECT_TRUE(same(after.size() - kGuard, after.size())) << "memory behind tensor '" << name << "' was written";
    Tensor& tensor = tensors_.at(name);
    if (tensor.output) decode(tensor.data, after.data() + kGuard);
    else EXPECT_TRUE(same(kGuard, after.size() - kGuard)) << "input '" << name << "' was written";
  }
  return *this;
}

void expect_matrix(const Array& actual, double tolerance, const Element2& f) {
  const std::int64_t columns = actual.shape.back(), rows = actual.count() / columns;
  int wrong = 0;
  for (std::int64_t r = 0; r < rows; ++r)
    for (std::int64_t c = 0; c < columns; ++c) {
      const double expected = f(r, c), given = actual.values[r * columns + c];
      if (std::abs(given - expected) <= tolerance) continue;
      if (wrong++ == 0) ADD_FAILURE() << "element (" << r << ", " << c << ") is " << given << ", expected " << expected << " +- " << tolerance;
    }
  EXPECT_EQ(wrong, 0) << "elements of " << rows * columns << " are wrong";
}

void expect_unwritten(const Array& actual, std::int64_t from, std::int64_t to) {
  const std::int64_t columns = actual.count() / actual.shape[0];
  for (std::int64_t i = from * columns; i < to * columns; ++i)
    ASSERT_TRUE(std::isnan(actual.values[i]) || actual.values[i] == -1) << "row " << i / columns << " was written";
}

double dot(std::int64_t k, const Element2& a, const Element2& b, std::int64_t row, std::int64_t column) {
  double sum = 0;
  for (std::int64_t i = 0; i < k; ++i) sum += a(row, i) * b(i, column);
  return sum;
}

}  // namespace tilewright::test
