// How a role becomes a list of instructions of the abstract machine.
#pragma once
#include "compiler/verify/protocol/Program.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

namespace tilewright::verify::protocol {

struct Compiler {
  Compiler(Program& p, Slice s) : program(p), slice(std::move(s)) {}
  Program& program;
  Slice slice;
  llvm::DenseMap<mlir::Value, int> numbers;
  llvm::DenseSet<mlir::Value> polled;  // tensors that a loop's condition looks at
  std::vector<Instr>* code = nullptr;
  llvm::DenseMap<mlir::Operation*, int> loops;  // where the code of a loop begins
  std::int64_t many = 0, many_outer = 0;
  int warps = 1;

  int number(mlir::Value v) {
    auto [at, made] = numbers.try_emplace(v, program.scalars);
    if (made) ++program.scalars;
    return at->second;
  }
  int tile_number(mlir::Value root) {
    for (auto [i, tile] : llvm::enumerate(program.tiles))
      if (tile.op.getTile() == root) return static_cast<int>(i);
    return -1;
  }
  int ring_number(mlir::Value ring) {
    for (auto [i, r] : llvm::enumerate(program.rings))
      if (r.op.getRing() == ring) return static_cast<int>(i);
    return -1;
  }
  int barrier_number(mlir::Value barrier) {
    for (auto [i, b] : llvm::enumerate(program.barriers))
      if (b.op.getBarrier() == barrier) return static_cast<int>(i);
    return -1;
  }

  Place place(mlir::Value tile);
  Instr& emit(Code c, mlir::Operation* at) {
    code->emplace_back();
    code->back().code = c;
    code->back().at = at;
    return code->back();
  }
  int here() const { return static_cast<int>(code->size()); }

  void scalar(mlir::Operation* op);
  void effect(mlir::Operation* op);
  void block(mlir::Block& b);
  void control(mlir::Operation* op);
  /// Whether another loop of the protocol lies in this one.
  bool nests(mlir::Operation* loop);
  /// Whether a branch only touches memory: not to take it leaves accesses out.
  bool quiet(mlir::scf::IfOp branch);
  /// The loop around the branch that goes round once more where it is taken: its condition is index + step < bound. None: null.
  static mlir::scf::ForOp repeated(mlir::scf::IfOp branch);
  std::int64_t many_of(mlir::Operation* loop) { return nests(loop) ? many_outer : many; }
};

}  // namespace tilewright::verify::protocol
