// Compiling, inspecting and launching a Program: the C++ form of tilewright/kernel.h and tilewright/device.h. Header-only: no std
// type and no exception crosses the library's border.
#pragma once
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "tilewright/dsl.h"
#include "tilewright/kernel.h"

namespace tilewright {

namespace detail {

/// Throws what a status means: CompileError, InternalError or Error, with the library's message.
inline void check(tilewright_status status) {
  if (status == TILEWRIGHT_OK) return;
  const std::string message = tilewright_last_error();
  if (status == TILEWRIGHT_COMPILE_FAILED) throw CompileError(message);
  if (status == TILEWRIGHT_INTERNAL) throw InternalError(message);
  throw Error(message);
}

}  // namespace detail

struct CompileOptions {
  bool keep_stages = false;     ///< keep the text of every stage: CompiledKernel::text("tile"), "hopper", "llvm"
  bool assemble = true;         ///< make a cubin with ptxas, where there is one
  bool enforce_contract = true; ///< spills, stack frames and ptxas' performance warnings are errors
  std::string ptxas = {};       ///< path of the assembler; empty: TILEWRIGHT_PTXAS, then the usual places
  /// Called as each step begins: kernel, step ("done" at the end), steps done and in all. It must not throw.
  std::function<void(const char* kernel, const char* step, unsigned done, unsigned total)> progress = {};
};

/// What ptxas says of a kernel; registers is 0 where it was not assembled. See tilewright_resources.
using Resources = tilewright_resources;

/// A compiled kernel. Copies share it.
class CompiledKernel {
 public:
  explicit CompiledKernel(tilewright_kernel* kernel) : kernel_(kernel, tilewright_kernel_destroy) {}

  /// "name", "ptx", "sidecar", "log", "assembler"; with keep_stages "tile", "hopper", "llvm". Empty where there is none.
  std::string text(const std::string& what) const {
    const char* text = tilewright_kernel_text(kernel_.get(), what.c_str());
    return text == nullptr ? "" : text;
  }
  std::string name() const { return text("name"); }
  std::string ptx() const { return text("ptx"); }
  Resources resources() const {
    Resources r{};
    r.size = sizeof r;
    detail::check(tilewright_kernel_resources(kernel_.get(), &r));
    return r;
  }
  const tilewright_kernel* get() const { return kernel_.get(); }

 private:
  std::shared_ptr<tilewright_kernel> kernel_;
};

/// Compiles for sm_90a. Throws CompileError: the author's mistake as file:line: error: ..., or ptxas' words.
inline CompiledKernel compile(const Program& program, const CompileOptions& options = {}) {
  tilewright_compile_options o{};
  o.size = sizeof o;
  o.keep_stages = options.keep_stages;
  o.omit_assembly = !options.assemble;
  o.break_contract = !options.enforce_contract;
  if (!options.ptxas.empty()) o.ptxas = options.ptxas.c_str();
  if (options.progress) {
    o.progress = [](void* data, const tilewright_progress* p) {
      (*static_cast<decltype(&options.progress)>(data))(p->kernel, p->step, p->done, p->total);
    };
    o.progress_data = const_cast<void*>(static_cast<const void*>(&options.progress));
  }
  tilewright_kernel* kernel = nullptr;
  detail::check(tilewright_compile(program.builder().program(), &o, &kernel));
  return CompiledKernel(kernel);
}

/// A tensor, dimension or scalar by the name that the kernel gave it.
class Argument {
 public:
  /// A contiguous tensor of elements T in device memory; null for an optional tensor that is absent.
  template <ElementTag T>
  static Argument tensor(std::string name, void* data, const std::vector<std::int64_t>& shape, const std::vector<std::int64_t>& strides = {}) {
    if (shape.size() > TILEWRIGHT_MAX_RANK || (!strides.empty() && strides.size() != shape.size()))
      throw Error("argument '" + name + "': " + std::to_string(shape.size()) + " extents and " + std::to_string(strides.size()) +
                  " strides, expected at most " + std::to_string(TILEWRIGHT_MAX_RANK) + " and as many strides or none");
    Argument a(std::move(name));
    a.argument_.data = data;
    a.argument_.dtype = dtype(T::element);
    a.argument_.rank = static_cast<std::uint32_t>(shape.size());
    for (std::size_t i = 0; i < shape.size(); ++i) a.argument_.shape[i] = shape[i];
    for (std::size_t i = 0; i < strides.size(); ++i) a.argument_.strides[i] = strides[i];
    return a;
  }
  /// A dimension or an integer scalar.
  static Argument integer(std::string name, std::int64_t value) {
    Argument a(std::move(name));
    a.argument_.integer = value;
    return a;
  }
  static Argument real(std::string name, double value) {
    Argument a(std::move(name));
    a.argument_.real = value;
    return a;
  }
  /// The C form; its name lives as long as this object.
  tilewright_argument get() const {
    tilewright_argument a = argument_;
    a.name = name_.c_str();
    return a;
  }

 private:
  explicit Argument(std::string name) : name_(std::move(name)) { argument_.size = sizeof argument_; }
  static std::int32_t dtype(Element e) {
    switch (e) {
      case Element::bf16: return TILEWRIGHT_BF16;
      case Element::f16: return TILEWRIGHT_F16;
      case Element::f32: return TILEWRIGHT_F32;
      case Element::i32: return TILEWRIGHT_I32;
      case Element::i64: return TILEWRIGHT_I64;
    }
    return -1;
  }
  std::string name_;
  tilewright_argument argument_{};
};

/// A kernel on a device.
class Function {
 public:
  explicit Function(tilewright_function* function) : function_(function, tilewright_function_destroy) {}
  /// Enqueues the kernel. Dimensions that tensors' shapes tell need no argument. On a simulated device it has run on return.
  void operator()(std::initializer_list<Argument> arguments, tilewright_stream stream = nullptr, bool programmatic = false) const {
    std::vector<tilewright_argument> list;
    for (const Argument& a : arguments) list.push_back(a.get());
    detail::check(tilewright_launch(function_.get(), list.data(), list.size(), stream, programmatic));
  }

 private:
  std::shared_ptr<tilewright_function> function_;
};

/// Device memory that frees itself. The Device must outlive it.
class Memory {
 public:
  Memory(tilewright_handle* device, std::uint64_t bytes) : device_(device), bytes_(bytes) {
    detail::check(tilewright_allocate(device, bytes, &data_));
  }
  ~Memory() { tilewright_free(device_, data_); }
  Memory(Memory&& other) noexcept : device_(other.device_), bytes_(other.bytes_), data_(std::exchange(other.data_, nullptr)) {}
  Memory& operator=(Memory&&) = delete;
  void* data() const { return data_; }
  std::uint64_t bytes() const { return bytes_; }
  void write(const void* from) const { detail::check(tilewright_copy_to_device(device_, data_, from, bytes_)); }
  void read(void* to) const { detail::check(tilewright_copy_to_host(device_, to, data_, bytes_)); }

 private:
  tilewright_handle* device_;
  std::uint64_t bytes_;
  void* data_ = nullptr;
};

/// A CUDA device, or the simulated Hopper.
class Device {
 public:
  /// A CUDA ordinal, TILEWRIGHT_DEVICE_SIM or TILEWRIGHT_DEVICE_AUTO (the current CUDA device if it is a Hopper, else the simulator).
  explicit Device(std::int32_t device = TILEWRIGHT_DEVICE_AUTO) {
    tilewright_handle* handle = nullptr;
    detail::check(tilewright_create(device, &handle));
    handle_.reset(handle);
  }
  std::string kind() const { return tilewright_device_kind(handle_.get()); }
  std::string description() const { return tilewright_device_description(handle_.get()); }
  Function load(const CompiledKernel& kernel) const {
    tilewright_function* function = nullptr;
    detail::check(tilewright_load(handle_.get(), kernel.get(), &function));
    return Function(function);
  }
  Memory allocate(std::uint64_t bytes) const { return Memory(handle_.get(), bytes); }
  void synchronize() const { detail::check(tilewright_synchronize(handle_.get())); }
  tilewright_handle* get() const { return handle_.get(); }

 private:
  struct Destroy {
    void operator()(tilewright_handle* handle) const { tilewright_destroy(handle); }
  };
  std::unique_ptr<tilewright_handle, Destroy> handle_;
};

}  // namespace tilewright
