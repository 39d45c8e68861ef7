// From a recorded program to a compiled kernel, behind the C interface.
#include <map>
#include <string_view>

#include "runtime/api/kernel.h"
#include "runtime/api/read.h"
#include "runtime/api/status.h"

using namespace tilewright;

namespace {

/// The caller's callback, called through the library's own hook.
struct Callback {
  tilewright_progress_callback call = nullptr;
  void* data = nullptr;
};

void report(void* user, const ops::Progress& p) {
  const auto& callback = *static_cast<const Callback*>(user);
  const tilewright_progress progress{sizeof progress, p.kernel, p.step, p.done, p.total};
  callback.call(callback.data, &progress);
}

ops::BuildOptions options_of(const tilewright_compile_options* given, Callback& callback) {
  ops::BuildOptions options;
  if (given == nullptr) return options;
  const auto o = api::read(given, "compile: options", "tilewright_compile_options");
  options.keep_stages = o.keep_stages != 0;
  options.assemble = o.omit_assembly == 0;
  options.enforce_contract = o.break_contract == 0;
  if (o.ptxas != nullptr) options.ptxas = o.ptxas;
  callback = {o.progress, o.progress_data};
  if (o.progress != nullptr) {
    options.progress = report;
    options.progress_user = &callback;
  }
  return options;
}

/// Where tilewright_kernel_text finds each text.
const std::string* text_of(const ops::Built& built, std::string_view what) {
  const std::map<std::string_view, const std::string*> texts{
      {"name", &built.program.name()},     {"ptx", &built.program.ptx()},   {"sidecar", &built.program.sidecar_json()},
      {"log", &built.assembled.log},       {"tile", &built.stages.tile_ir}, {"hopper", &built.stages.hopper_ir},
      {"llvm", &built.stages.llvm_ir},     {"assembler", &built.assembled.assembler}};
  const auto found = texts.find(what);
  return found == texts.end() || found->second->empty() ? nullptr : found->second;
}

}  // namespace

tilewright_status tilewright_compile(tilewright_program* program, const tilewright_compile_options* options, tilewright_kernel** out) {
  return api::guarded(TILEWRIGHT_COMPILE_FAILED, [&] {
    if (program == nullptr) throw ops::ArgumentError("compile: program is NULL");
    if (out == nullptr) throw ops::ArgumentError("compile: out is NULL, expected a place for the kernel");
    *out = nullptr;
    Callback callback;
    const ops::BuildOptions build_options = options_of(options, callback);
    // What was refused is missing in the program: it would compile to another kernel than the author's.
    if (const std::string mistake = tilewright_program_message(program); !mistake.empty()) throw ops::BuildError(mistake);
    const tilewright::Program recorded(dsl::Builder::borrow(program));
    *out = new tilewright_kernel{ops::build({{"", [&] { return recorded; }}}, build_options).front()};
  });
}

const char* tilewright_kernel_text(const tilewright_kernel* kernel, const char* what) {
  if (kernel == nullptr || what == nullptr) return nullptr;
  const std::string* text = text_of(*kernel->built, what);
  return text == nullptr ? nullptr : text->c_str();
}

tilewright_status tilewright_kernel_resources(const tilewright_kernel* kernel, tilewright_resources* resources) {
  return api::guarded(TILEWRIGHT_INTERNAL, [&] {
    if (kernel == nullptr) throw ops::ArgumentError("kernel_resources: kernel is NULL");
    if (resources == nullptr) throw ops::ArgumentError("kernel_resources: resources is NULL");
    if (resources->size < sizeof *resources)
      throw ops::ArgumentError("kernel_resources: size is " + std::to_string(resources->size) + ", expected " +
                               std::to_string(sizeof *resources));
    const auto& sidecar = kernel->built->program.sidecar();
    tilewright_resources r{};
    r.size = resources->size;
    r.threads = sidecar.threads;
    r.shared_bytes = sidecar.dynamic_shared_bytes;
    if (!kernel->built->assembled.kernels.empty()) {
      const assemble::ResourceReport& report = kernel->built->assembled.kernels.front();
      r.registers = report.registers;
      r.spill_store_bytes = report.spill_store_bytes;
      r.spill_load_bytes = report.spill_load_bytes;
      r.stack_bytes = report.stack_bytes;
      r.shared_bytes += report.shared_bytes;
      r.barriers = report.barriers;
      r.performance_losses = static_cast<uint32_t>(report.performance_loss.size());
    }
    *resources = r;
  });
}

void tilewright_kernel_destroy(tilewright_kernel* kernel) { delete kernel; }
