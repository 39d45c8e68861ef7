#include <algorithm>
#include <chrono>
#include <mutex>
#include <utility>

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/LLVMIR/Transforms/Passes.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Target/LLVMIR/Dialect/Builtin/BuiltinToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/LLVMIR/LLVMToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/NVVM/NVVMToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Export.h"
#include "llvm/IR/DiagnosticInfo.h"
#include "llvm/IR/DiagnosticPrinter.h"
#include "llvm/IR/InlineAsm.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/LegacyPassManager.h"
#include "llvm/IR/Module.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Support/raw_ostream.h"
#include "llvm/Target/TargetMachine.h"

#include "compiler/codegen/Codegen.h"

// Only the NVPTX backend is initialised, so that a static link carries no other.
extern "C" {
void LLVMInitializeNVPTXTarget();
void LLVMInitializeNVPTXTargetInfo();
void LLVMInitializeNVPTXTargetMC();
void LLVMInitializeNVPTXAsmPrinter();
}

namespace tilewright::codegen {
namespace {

void initialiseBackend() {
  static std::once_flag once;
  std::call_once(once, [] {
    LLVMInitializeNVPTXTarget();
    LLVMInitializeNVPTXTargetInfo();
    LLVMInitializeNVPTXTargetMC();
    LLVMInitializeNVPTXAsmPrinter();
  });
}

/// Collects the errors LLVM reports. Without a handler the first one would end the process.
struct Errors {
  std::string text;

  static void handle(const llvm::DiagnosticInfo *info, void *context) {
    if (info->getSeverity() != llvm::DS_Error)
      return;
    auto *self = static_cast<Errors *>(context);
    if (!self->text.empty())
      self->text += "\n";
    llvm::raw_string_ostream stream(self->text);
    llvm::DiagnosticPrinterRawOStream printer(stream);
    info->print(printer);
  }
};

/// Gives each function a debug scope, so that its locations reach PTX as .loc lines.
mlir::LogicalResult addDebugScopes(mlir::ModuleOp module) {
  mlir::LLVM::DIScopeForLLVMFuncOpPassOptions scope;
  // Lines only: with full tables PTX would be a debug build.
  scope.emissionKind = mlir::LLVM::DIEmissionKind::DebugDirectivesOnly;
  mlir::PassManager passes(module.getContext());
  passes.enableVerifier(false);
  passes.addPass(mlir::LLVM::createDIScopeForLLVMFuncOpPass(scope));
  return passes.run(module);
}

/// Says of one piece of inline PTX what llvm.inline_asm of MLIR cannot.
void describe(llvm::CallInst &call) {
  const auto &assembly = *llvm::cast<llvm::InlineAsm>(call.getCalledOperand());
  call.setDoesNotThrow();
  // Warp-wide instructions must not be copied to, or merged across, paths that lanes take separately.
  bool collective = llvm::StringRef(assembly.getAsmString()).contains(".sync");
  if (assembly.hasSideEffects() || collective)
    call.addFnAttr(llvm::Attribute::Convergent);
  if (!assembly.hasSideEffects()) {
    call.setDoesNotAccessMemory();
    call.addFnAttr(llvm::Attribute::WillReturn);
  } else {
    call.addFnAttr(llvm::Attribute::NoDuplicate);
    call.addFnAttr(llvm::Attribute::NoMerge);
    if (!llvm::StringRef(assembly.getConstraintString()).contains("~{memory}"))
      call.setOnlyAccessesInaccessibleMemory();
  }
}

void optimise(llvm::Module &module, llvm::TargetMachine &machine, int level) {
  llvm::LoopAnalysisManager loops;
  llvm::FunctionAnalysisManager functions;
  llvm::CGSCCAnalysisManager components;
  llvm::ModuleAnalysisManager modules;
  // Loops over registers are unrolled in MLIR; the loops left are the author's and keep their shape.
  llvm::PipelineTuningOptions tuning;
  tuning.LoopUnrolling = false;
  tuning.LoopInterleaving = false;
  tuning.LoopVectorization = false;
  tuning.SLPVectorization = false;
  llvm::PassBuilder builder(&machine, tuning);
  builder.registerModuleAnalyses(modules);
  builder.registerCGSCCAnalyses(components);
  builder.registerFunctionAnalyses(functions);
  builder.registerLoopAnalyses(loops);
  builder.crossRegisterProxies(loops, functions, components, modules);
  constexpr const llvm::OptimizationLevel *kLevels[] = {&llvm::OptimizationLevel::O0, &llvm::OptimizationLevel::O1,
                                                        &llvm::OptimizationLevel::O2, &llvm::OptimizationLevel::O3};
  llvm::OptimizationLevel chosen = *kLevels[std::clamp(level, 0, 3)];
  auto passes = chosen == llvm::OptimizationLevel::O0 ? builder.buildO0DefaultPipeline(chosen)
                                                      : builder.buildPerModuleDefaultPipeline(chosen);
  passes.run(module, modules);
}

} // namespace

void registerCodegenDialects(mlir::DialectRegistry &registry) {
  registry.insert<mlir::LLVM::LLVMDialect, mlir::NVVM::NVVMDialect>();
  mlir::registerBuiltinDialectTranslation(registry);
  mlir::registerLLVMDialectTranslation(registry);
  mlir::registerNVVMDialectTranslation(registry);
}

mlir::FailureOr<std::string> emitPtx(mlir::ModuleOp module, const CodegenOptions &options, std::string *llvmIr,
                                     CodegenTimes *times) {
  auto lap = [last = std::chrono::steady_clock::now()]() mutable {
    auto now = std::chrono::steady_clock::now();
    return std::chrono::duration<double, std::milli>(now - std::exchange(last, now)).count();
  };
  initialiseBackend();
  if (options.debugLocations && mlir::failed(addDebugScopes(module)))
    return mlir::failure();
  llvm::LLVMContext context;
  Errors errors;
  context.setDiagnosticHandlerCallBack(&Errors::handle, &errors);
  std::unique_ptr<llvm::Module> ir = mlir::translateModuleToLLVMIR(module, context);
  if (!ir)
    return mlir::failure();
  for (llvm::Function &function : *ir)
    function.addFnAttr("no-jump-tables", "true"); // branches on the warp index stay uniform branches
  for (llvm::Function &function : *ir)
    for (llvm::BasicBlock &block : function)
      for (llvm::Instruction &instruction : block)
        if (auto *call = llvm::dyn_cast<llvm::CallInst>(&instruction); call && call->isInlineAsm())
          describe(*call);

  CodegenTimes spent;
  spent.translate = lap();
  llvm::Triple triple("nvptx64-nvidia-cuda");
  std::string problem;
  const llvm::Target *target = llvm::TargetRegistry::lookupTarget(triple, problem);
  if (!target)
    return module.emitError("LLVM has no NVPTX backend: ") << problem;
  llvm::TargetOptions targetOptions;
  targetOptions.AllowFPOpFusion = llvm::FPOpFusion::Standard; // only operations marked `contract` fuse
  std::unique_ptr<llvm::TargetMachine> machine(target->createTargetMachine(
      triple, options.cpu, options.features, targetOptions, llvm::Reloc::PIC_, std::nullopt,
      options.optLevel >= 3 ? llvm::CodeGenOptLevel::Aggressive : llvm::CodeGenOptLevel::Default));
  ir->setTargetTriple(triple);
  ir->setDataLayout(machine->createDataLayout());
  optimise(*ir, *machine, options.optLevel);
  spent.optimise = lap();
  if (llvmIr) {
    llvm::raw_string_ostream stream(*llvmIr);
    ir->print(stream, nullptr);
  }
  lap();

  llvm::SmallString<0> ptx;
  llvm::raw_svector_ostream stream(ptx);
  llvm::legacy::PassManager backend;
  if (machine->addPassesToEmitFile(backend, stream, nullptr, llvm::CodeGenFileType::AssemblyFile))
    return module.emitError("the NVPTX backend cannot write assembly");
  backend.run(*ir);
  spent.emit = lap();
  if (times)
    *times = spent;
  if (!errors.text.empty())
    return module.emitError("LLVM: ") << errors.text;
  return std::string(ptx.str());
}

} // namespace tilewright::codegen
