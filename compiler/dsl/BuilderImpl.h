// State behind dsl::Builder: the module under construction, the insertion point, and the ids handed to the author.
#pragma once
#include "dialect/tile/Tile.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/MLIRContext.h"
#include "tilewright/dsl/builder.h"

namespace tilewright::dsl {

struct Builder::Impl {
  Impl(std::string_view name, const Where& where);

  mlir::MLIRContext context;
  mlir::OwningOpRef<mlir::ModuleOp> module;
  tile::KernelOp kernel;
  mlir::OpBuilder ops;
  std::vector<mlir::Value> values;
  Where where;

  mlir::Location loc();
  mlir::Value value(Id id) const { return values.at(static_cast<size_t>(id)); }
  Id add(mlir::Value v) {
    values.push_back(v);
    return static_cast<Id>(values.size()) - 1;
  }
  mlir::SmallVector<mlir::Value> list(const Ids& ids) const {
    mlir::SmallVector<mlir::Value> out;
    for (Id id : ids) out.push_back(value(id));
    return out;
  }
  mlir::Type type(Element e);
  mlir::StringAttr text(std::string_view s) { return ops.getStringAttr(llvm::StringRef(s.data(), s.size())); }
  /// Adds a kernel parameter; `attributes` describes it for the sidecar.
  Id parameter(std::string_view name, mlir::Type type, mlir::DictionaryAttr description);
  /// Verifies the op just made, so that a mistake is reported at the author's line.
  template <class Op>
  Op checked(Op op) {
    check(op);
    return op;
  }
  void check(mlir::Operation* op);
  /// Throws CompileError "file:line: error: message".
  [[noreturn]] void fail(const std::string& message) const;
  /// Fails unless the insertion point is inside (or outside) a role.
  void in_role(std::string_view what) const;
  void in_kernel(std::string_view what) const;
};

}  // namespace tilewright::dsl
