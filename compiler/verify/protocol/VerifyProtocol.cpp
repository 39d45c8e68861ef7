// The pass: runs a kernel's protocol for the sets of choices that cover it, and reports what it finds or cannot decide.
#include "compiler/verify/Verify.h"
#include "compiler/verify/protocol/Machine.h"
#include "compiler/verify/protocol/Waivers.h"

using namespace mlir;

namespace tilewright::verify {
namespace {

using namespace protocol;

constexpr int kMostRuns = 2000;

std::string line_of(Location location) {
  if (auto file = dyn_cast<FileLineColLoc>(location)) return file.getFilename().str() + ":" + std::to_string(file.getLine());
  if (auto fused = dyn_cast<FusedLoc>(location); fused && !fused.getLocations().empty()) return line_of(fused.getLocations().front());
  if (auto name = dyn_cast<NameLoc>(location)) return line_of(name.getChildLoc());
  return "an unknown line";
}

/// "where the loop at line 7 runs 2 times and the branch at line 9 is not taken"
std::string choices_text(const Choices& choices) {
  std::string text;
  int told = 0;
  for (const Choices::Chosen& c : choices.chosen()) {
    if (!c.trip || !c.op || ++told > 4) continue;
    text += (text.empty() ? "" : ", ") + std::to_string(c.value) + (c.value == 1 ? " trip" : " trips") + " of the loop at " + line_of(c.op->getLoc());
  }
  return text;
}

void emit(const Finding& f, const Choices& choices) {
  auto error = f.at->emitOpError() << f.text;
  if (!f.hint.empty()) error << "; " << f.hint;
  if (f.undecided) error << " (or waive it: k.waive(\"" << f.subject << "\", \"" << f.property << "\", reason))";
  if (f.waiver) error.attachNote(*f.waiver) << "a waiver answers for what cannot be decided; this is refuted";
  int number = 0;
  for (const Finding::Step& step : f.steps) error.attachNote(step.at->getLoc()) << ++number << ". " << step.text;
  if (std::string with = choices_text(choices); !with.empty()) error.attachNote(f.at->getLoc()) << "with " << with;
}

/// The kernel takes more runs, or more steps, than are made.
LogicalResult too_much(tile::KernelOp kernel, const Choices& choices, Waivers& waivers) {
  if (waivers.covers("kernel", "starvation")) return waivers.check_used();
  auto error = kernel.emitOpError() << "cannot be decided: ";
  if (choices.runs() == 1) error << "its loops take too long to be followed";
  else error << "its loops and branches have more combinations than are tried: " << choices.runs() - 1 << " of " << choices.runs() - 1 + choices.left();
  return error << "; simplify them (or waive it: k.waive(\"kernel\", \"starvation\", reason))";
}

}  // namespace

LogicalResult verify_protocol(tile::KernelOp kernel, Effort* effort) {
  Waivers waivers;
  if (failed(waivers.read(kernel))) return failure();
  Program program = compile(kernel);
  Choices choices;
  Values values(choices);
  Machine machine(program, values, choices, waivers);
  while (choices.next()) {
    if (choices.runs() > kMostRuns) return too_much(kernel, choices, waivers);
    if (auto found = machine.run()) return emit(*found, choices), failure();
    if (machine.gave_up()) return too_much(kernel, choices, waivers);
  }
  if (effort) *effort = {choices.runs() - 1, machine.steps(), machine.compared()};
  return waivers.check_used();
}

namespace {

struct VerifyProtocol : PassWrapper<VerifyProtocol, OperationPass<ModuleOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(VerifyProtocol)
  StringRef getArgument() const override { return "tile-verify-protocol"; }
  StringRef getDescription() const override { return "proves or refutes that waits end, phases match, and shared memory is handed over"; }

  void runOnOperation() override {
    WalkResult result = getOperation()->walk([&](tile::KernelOp kernel) { return failed(verify_protocol(kernel)) ? WalkResult::interrupt() : WalkResult::advance(); });
    if (result.wasInterrupted()) signalPassFailure();
  }
};

}  // namespace

std::unique_ptr<Pass> verify_protocol() { return std::make_unique<VerifyProtocol>(); }

}  // namespace tilewright::verify
