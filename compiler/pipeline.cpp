#include "compiler/pipeline.h"

#include <chrono>

#include "compiler/codegen/Codegen.h"
#include "compiler/cuda_functions.h"
#include "compiler/diagnostics.h"
#include "compiler/dsl/Recording.h"
#include "compiler/pass_recorder.h"
#include "compiler/passes/hopper/Passes.h"
#include "compiler/passes/tile/Passes.h"
#include "compiler/verify/Verify.h"
#include "dialect/hopper/Hopper.h"
#include "mlir/Transforms/Passes.h"
#include "compiler/compile.h"

using namespace mlir;

namespace tilewright {

void build_tile_pipeline(OpPassManager& passes, bool protocol, const mutation::Hook& hook) {
  passes.addPass(verify::verify_structure());
  passes.addPass(verify::verify_in_flight());
  passes.addPass(passes::infer_layouts());
  passes.addPass(passes::plan_shared());
  passes.addPass(passes::insert_fences());
  if (hook) {
    passes.addPass(mutation::mutate(mutation::Stage::tile, hook));
    passes.addPass(verify::verify_structure());
    passes.addPass(verify::verify_in_flight());
    passes.addPass(passes::insert_fences());
  }
  if (protocol) passes.addPass(verify::verify_protocol());
  passes.addPass(passes::lower_tile());
  passes.addPass(createCanonicalizerPass());
  passes.addPass(createCSEPass());
  if (hook) passes.addPass(mutation::mutate(mutation::Stage::hopper, hook));
}

namespace {

std::string print(ModuleOp module) {
  std::string text;
  llvm::raw_string_ostream os(text);
  module.print(os);
  return text;
}

}  // namespace

namespace compiler {

std::string text_of(const Program& program, const Options& options) {
  std::string text;
  llvm::raw_string_ostream os(text);
  program.builder().program()->recording.module->print(os, OpPrintingFlags().enableDebugInfo(options.source_lines));
  return text;
}

namespace {

/// A copy of a finished program, with all that the passes need in its context.
OwningOpRef<ModuleOp> copy_of(dsl::Recording& built) {
  if (!built.open.empty()) built.fail("the kernel is unfinished: a role, loop or branch was left by an exception");
  DialectRegistry registry;
  hopper::registerHopperDialects(registry);
  codegen::registerCodegenDialects(registry);
  registry.insert<tile::TileDialect>();
  built.context.appendDialectRegistry(registry);
  built.context.loadAllAvailableDialects();
  return built.module->clone();
}

CompileError error_of(const DiagnosticCollector& errors) {
  return CompileError(errors.empty() ? "the compiler failed without a message; please report this kernel" : errors.text());
}

}  // namespace

std::vector<Mutation> mutations(const Program& program) {
  auto& built = program.builder().program()->recording;
  OwningOpRef<ModuleOp> module = copy_of(built);
  DiagnosticCollector errors(&built.context);
  PassManager passes(&built.context);
  passes.enableVerifier(false);
  std::vector<Mutation> all;
  build_tile_pipeline(passes, /*protocol=*/true, [&](Mutation::Stage stage, ModuleOp at) {
    for (Mutation& m : mutation::list(stage, at)) all.push_back(std::move(m));
    return success();
  });
  if (failed(passes.run(*module))) throw error_of(errors);
  return all;
}

Compiled compile(const Program& program, const Options& options, const StepHook& step) {
  auto begin = std::chrono::steady_clock::now();
  auto& built = program.builder().program()->recording;
  OwningOpRef<ModuleOp> module = copy_of(built);
  if (options.trace) (*module)->setAttr("tilewright.trace", UnitAttr::get(&built.context));
  DiagnosticCollector errors(&built.context);
  Compiled out;
  auto run = [&](auto build) {
    PassManager passes(&built.context);
    passes.enableVerifier(false);
    if (options.record_passes) passes.addInstrumentation(std::make_unique<PassRecorder>(out.passes));
    build(passes);
    if (failed(passes.run(*module))) throw error_of(errors);
  };
  const auto begin_step = [&](std::size_t which) {
    if (step) step(kSteps[which]);
  };
  out.name = built.kernel.getSymName().str();
  if (options.keep_stages) out.tile_ir = print(*module);
  begin_step(0);
  mutation::Hook plant;
  if (options.mutation) plant = [&](Mutation::Stage stage, ModuleOp at) { return mutation::plant(*options.mutation, stage, at); };
  run([&](PassManager& p) { build_tile_pipeline(p, options.protocol, plant); });
  out.sidecar = (*module)->getAttrOfType<StringAttr>("tilewright.sidecar").getValue().str();
  (*module)->removeAttr("tilewright.sidecar");
  (*module)->removeAttr("tilewright.trace");
  if (options.keep_stages) out.hopper_ir = print(*module);
  const std::vector<nvrtc::CudaFunction> functions = cuda_functions_of(*module);
  codegen::CodegenOptions codegen_options;
  codegen_options.debugLocations = options.source_lines;
  begin_step(1);
  run([](PassManager& p) { hopper::buildHopperToLLVMPipeline(p); });
  begin_step(2);
  codegen::CodegenTimes times;
  auto ptx = codegen::emitPtx(*module, codegen_options, options.keep_stages || options.record_passes ? &out.llvm_ir : nullptr, &times);
  if (failed(ptx)) throw CompileError(errors.text());
  out.ptx = *ptx;
  if (options.record_passes) {
    out.passes.push_back({"translate-to-llvm", times.translate, "", ""});
    out.passes.push_back({"optimise-llvm", times.optimise, "ll", out.llvm_ir});
    out.passes.push_back({"nvptx", times.emit, "ptx", out.ptx});
  }
  out.calls_cuda = !functions.empty();
  if (out.calls_cuda) {
    const auto begin_link = std::chrono::steady_clock::now();
    out.ptx = nvrtc::link(out.ptx, functions);
    if (options.record_passes) out.passes.push_back({"link-cuda-functions", std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - begin_link).count(), "ptx", out.ptx});
  }
  out.milliseconds = std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - begin).count();
  return out;
}

}  // namespace compiler

}  // namespace tilewright
