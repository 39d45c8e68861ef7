// What each recorded operation does: one function by name, in one file for each family.
#pragma once
#include "compiler/dsl/Recording.h"
#include "llvm/ADT/StringMap.h"

namespace tilewright::dsl {

/// Reads what an operation was given, in the order in which it was put together, and takes its results.
class Arguments {
 public:
  Arguments(Recording& recording, const tilewright_operation& operation) : recording_(recording), operation_(operation) {}

  mlir::Value value();
  mlir::Value optional();  ///< null where absent
  /// A list: its length is an integer.
  mlir::SmallVector<mlir::Value> list();
  mlir::SmallVector<mlir::Value> values();  ///< all that are left
  std::int64_t integer();
  bool flag() { return integer() != 0; }
  mlir::SmallVector<std::int64_t> integers();  ///< all that are left
  int code();  ///< the number of an operator or a type
  Element element() { return static_cast<Element>(code()); }
  llvm::StringRef text();
  mlir::SmallVector<llvm::StringRef> texts();  ///< all that are left
  double real() const { return operation_.real; }
  void result(mlir::Value);
  /// Throws unless everything was read and every result made.
  void finish() const;

 private:
  [[noreturn]] void malformed(const char* what) const;
  Recording& recording_;
  const tilewright_operation& operation_;
  std::uint64_t value_ = 0, integer_ = 0, text_ = 0, result_ = 0;
};

using Handler = void (*)(Recording&, Arguments&);
using Handlers = llvm::StringMap<Handler>;

void add_declarations(Handlers&);
void add_scalars(Handlers&);
void add_control(Handlers&);
void add_concurrency(Handlers&);
void add_chunks(Handlers&);
void add_clusters(Handlers&);
void add_debug(Handlers&);
void add_synchronisation(Handlers&);
void add_copies(Handlers&);
void add_products(Handlers&);
void add_elementwise(Handlers&);
void add_cuda_functions(Handlers&);
void add_tracing(Handlers&);

/// Does an operation. Throws CompileError for an author's mistake, Error for an unknown operation.
void record(Recording&, const tilewright_operation&);

}  // namespace tilewright::dsl
