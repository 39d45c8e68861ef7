// State behind a tilewright_program: the module under construction, the insertion point, and the values handed to the author.
#pragma once
#include <cstdint>
#include <stdexcept>
#include <string>
#include <vector>

#include "dialect/tile/Tile.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/MLIRContext.h"
#include "tilewright/dsl/builder.h"

namespace tilewright::dsl {

/// What no front end records that goes with this library: counts, numbers of operators, ends without a beginning.
class Malformed : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

struct Recording {
  Recording(std::string_view name, std::string_view file, unsigned line, unsigned column);

  mlir::MLIRContext context;
  mlir::OwningOpRef<mlir::ModuleOp> module;
  tile::KernelOp kernel;
  mlir::OpBuilder ops;
  std::vector<mlir::Value> values;

  /// The operations that one call has made so far.
  struct Watch final : mlir::OpBuilder::Listener {
    void notifyOperationInserted(mlir::Operation* op, mlir::OpBuilder::InsertPoint) override { made.push_back(op); }
    std::vector<mlir::Operation*> made;
  } watch;

  /// A role, loop, branch or map that is open, and where recording goes on after it.
  struct Open {
    mlir::Operation* op;
    mlir::OpBuilder::InsertPoint after;
  };
  std::vector<Open> open;

  struct Place {
    std::string file;
    unsigned line = 0, column = 0;
  } place;

  mlir::Location loc();
  mlir::Value value(Id id) const;
  Id add(mlir::Value v) {
    values.push_back(v);
    return static_cast<Id>(values.size()) - 1;
  }
  mlir::Type type(Element e);
  mlir::StringAttr text(llvm::StringRef s) { return ops.getStringAttr(s); }
  /// Fails where x has more than 32 bits.
  mlir::IntegerAttr i32(std::int64_t x);
  mlir::UnitAttr flag(bool set) { return set ? ops.getUnitAttr() : mlir::UnitAttr(); }

  /// Makes an op of the tile dialect at the author's place.
  template <class Op, class... Arguments>
  Op make(Arguments&&... arguments) {
    return Op::create(ops, loc(), std::forward<Arguments>(arguments)...);
  }
  /// Verifies the op just made, so that a mistake is reported at the author's line.
  template <class Op>
  Op checked(Op op) {
    check(op);
    return op;
  }
  void check(mlir::Operation* op);
  /// The type of a value that must have this kind of type.
  template <class T>
  T typed(mlir::Value v, const char* expected) const {
    if (auto type = mlir::dyn_cast<T>(v.getType())) return type;
    wrong_type(v, expected);
  }
  [[noreturn]] void wrong_type(mlir::Value v, const char* expected) const;
  /// Throws CompileError "file:line: error: message".
  [[noreturn]] void fail(const std::string& message) const;
  /// Fails unless the insertion point is inside (or outside) a role.
  void in_role(std::string_view what) const;
  void in_kernel(std::string_view what) const;
  /// Adds a kernel parameter; `description` is what the sidecar says of it.
  mlir::Value parameter(llvm::StringRef name, mlir::Type type, mlir::DictionaryAttr description);

  /// What is recorded next goes to the end of `block` (before its terminator), until close().
  void enter(mlir::Operation* op, mlir::Block* block);
  /// Ends the innermost open op.
  mlir::Operation* close();
};

}  // namespace tilewright::dsl

struct tilewright_program {
  tilewright_program(std::string_view name, std::string_view file, unsigned line, unsigned column)
      : recording(name, file, line, column) {}
  tilewright::dsl::Recording recording;
  std::string message;
};
