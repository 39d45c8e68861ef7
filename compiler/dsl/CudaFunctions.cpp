// Device functions of CUDA C++ and their calls.
#include "compiler/dsl/Operations.h"

using namespace mlir;

namespace tilewright::dsl {

namespace {

void cuda_function(Recording& r, Arguments& a) {
  const auto text = a.text(), name = a.text();
  r.in_kernel("a CUDA function");
  SmallVector<Type> types;
  for (std::int64_t element : a.integers()) types.push_back(r.type(static_cast<Element>(element)));
  if (types.empty()) throw Malformed("a CUDA function without a result");
  auto type = r.ops.getFunctionType(ArrayRef(types).drop_front(), types.front());
  a.result(r.checked(r.make<tile::CudaFunctionOp>(type, name, text)));
}

void call(Recording& r, Arguments& a) {
  r.in_role("the call of a CUDA function");
  const Value function = a.value();
  const auto values = a.values();
  auto type = r.typed<FunctionType>(function, "a CUDA function");
  a.result(r.checked(r.make<tile::CallOp>(type.getResult(0), function, values)));
}

}  // namespace

void add_cuda_functions(Handlers& h) {
  h["cuda_function"] = cuda_function;
  h["call"] = call;
}

}  // namespace tilewright::dsl
