// The pass: runs a kernel's protocol for the sets of choices that cover it, and reports what it finds or cannot decide.
#include "compiler/verify/Verify.h"
#include "compiler/verify/protocol/Machine.h"
#include "compiler/verify/protocol/Waivers.h"

using namespace mlir;

namespace tilewright::verify {
namespace {

using namespace protocol;

/// Steps of the machine after which no more pairs of trip counts are tried.
constexpr std::int64_t kStepsForPairs = 60000;

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

LogicalResult verify(tile::KernelOp kernel) {
  Waivers waivers;
  if (failed(waivers.read(kernel))) return failure();
  Program program = compile(kernel);
  Choices choices;
  Values values(choices);
  Machine machine(program, values, choices, waivers);
  while (choices.next(machine.steps() > kStepsForPairs)) {
    if (auto found = machine.run()) return emit(*found, choices), failure();
    if (machine.gave_up()) return waivers.check_used();
  }
  if (!choices.cut() || waivers.covers("kernel", "starvation")) return waivers.check_used();
  return kernel.emitOpError() << "cannot be decided: its loops and branches have more combinations than are tried; simplify them (or waive it: k.waive(\"kernel\", \"starvation\", reason))";
}

struct VerifyProtocol : PassWrapper<VerifyProtocol, OperationPass<ModuleOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(VerifyProtocol)
  StringRef getArgument() const override { return "tile-verify-protocol"; }
  StringRef getDescription() const override { return "proves or refutes that waits end, phases match, and shared memory is handed over"; }

  void runOnOperation() override {
    WalkResult result = getOperation()->walk([&](tile::KernelOp kernel) { return failed(verify(kernel)) ? WalkResult::interrupt() : WalkResult::advance(); });
    if (result.wasInterrupted()) signalPassFailure();
  }
};

}  // namespace

std::unique_ptr<Pass> verify_protocol() { return std::make_unique<VerifyProtocol>(); }

}  // namespace tilewright::verify
