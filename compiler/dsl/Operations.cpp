#include "compiler/dsl/Operations.h"

using namespace mlir;

namespace tilewright::dsl {

namespace {

Handlers all_handlers() {
  Handlers handlers;
  for (auto* family :
       {add_declarations, add_scalars, add_control, add_concurrency, add_chunks, add_clusters, add_synchronisation, add_copies, add_products,
        add_elementwise, add_cuda_functions, add_debug, add_tracing})
    family(handlers);
  return handlers;
}

}  // namespace

void Arguments::malformed(const char* what) const {
  throw Malformed("operation '" + std::string(operation_.name) + "' was given " + what +
                      ": the header tilewright/dsl/builder.h and this library do not belong together");
}
Value Arguments::value() {
  if (value_ >= operation_.value_count) malformed("too few values");
  return recording_.value(operation_.values[value_++]);
}
Value Arguments::optional() {
  if (value_ < operation_.value_count && operation_.values[value_] < 0) return ++value_, Value();
  return value();
}
SmallVector<Value> Arguments::list() {
  SmallVector<Value> out;
  for (std::int64_t n = integer(); n > 0; --n) out.push_back(value());
  return out;
}
SmallVector<Value> Arguments::values() {
  SmallVector<Value> out;
  while (value_ < operation_.value_count) out.push_back(value());
  return out;
}
std::int64_t Arguments::integer() {
  if (integer_ >= operation_.integer_count) malformed("too few integers");
  return operation_.integers[integer_++];
}
int Arguments::code() {
  const std::int64_t number = integer();
  if (number != static_cast<int>(number)) malformed("a number that names nothing");
  return static_cast<int>(number);
}
SmallVector<std::int64_t> Arguments::integers() {
  SmallVector<std::int64_t> out;
  while (integer_ < operation_.integer_count) out.push_back(integer());
  return out;
}
llvm::StringRef Arguments::text() {
  if (text_ >= operation_.text_count) malformed("too few texts");
  return operation_.texts[text_++];
}
SmallVector<llvm::StringRef> Arguments::texts() {
  SmallVector<llvm::StringRef> out;
  while (text_ < operation_.text_count) out.push_back(text());
  return out;
}
void Arguments::result(Value v) {
  if (result_ >= operation_.result_count) malformed("too little room for results");
  operation_.results[result_++] = recording_.add(v);
}
void Arguments::finish() const {
  if (value_ != operation_.value_count) malformed("too many values");
  if (integer_ != operation_.integer_count) malformed("too many integers");
  if (text_ != operation_.text_count) malformed("too many texts");
  if (result_ != operation_.result_count) malformed("too much room for results");
}

void record(Recording& recording, const tilewright_operation& operation) {
  static const Handlers handlers = all_handlers();
  const auto found = handlers.find(operation.name);
  if (found == handlers.end())
    throw Error("this library does not know the operation '" + std::string(operation.name) + "'; use a newer libtilewright.so");
  recording.place = {operation.file, operation.line, operation.column};
  Arguments arguments(recording, operation);
  recording.watch.made.clear();
  found->second(recording, arguments);
  arguments.finish();
  // What has regions is verified when it is closed, or by the compiler.
  for (Operation* op : recording.watch.made)
    if (op->getNumRegions() == 0) recording.check(op);
}

}  // namespace tilewright::dsl
