// printf, assertions, the author's own PTX.
#include "compiler/passes/lowering/Lowering.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

namespace tilewright::lowering {

/// Address of a text that ends with a zero byte, one variable of the module for each.
Value Lowering::text_address(StringRef text) {
  auto module = func_->getParentOfType<ModuleOp>();
  std::string bytes = text.str() + '\0';
  LLVM::GlobalOp global;
  int count = 0;
  for (auto other : module.getOps<LLVM::GlobalOp>()) {
    if (!other.getSymName().starts_with("tilewright_text")) continue;
    ++count;
    auto value = dyn_cast_or_null<StringAttr>(other.getValueOrNull());
    if (value && value.getValue() == StringRef(bytes)) global = other;
  }
  if (!global) {
    OpBuilder::InsertionGuard guard(b_);
    b_.setInsertionPointToStart(module.getBody());
    global = LLVM::GlobalOp::create(b_, loc_, LLVM::LLVMArrayType::get(b_.getI8Type(), bytes.size()), /*isConstant=*/true, LLVM::Linkage::Internal,
                                    "tilewright_text" + std::to_string(count), b_.getStringAttr(bytes));
  }
  return LLVM::AddressOfOp::create(b_, loc_, global);
}

/// What the driver links in.
LLVM::LLVMFuncOp Lowering::system_function(StringRef name, Type result, ArrayRef<Type> parameters) {
  auto module = func_->getParentOfType<ModuleOp>();
  if (auto known = module.lookupSymbol<LLVM::LLVMFuncOp>(name)) return known;
  OpBuilder::InsertionGuard guard(b_);
  b_.setInsertionPointToStart(module.getBody());
  return LLVM::LLVMFuncOp::create(b_, loc_, name, LLVM::LLVMFunctionType::get(result, parameters));
}

/// The arguments lie in a structure, promoted as C does it: f32 to f64.
void Lowering::emit_printf(tile::PrintfOp op) {
  auto pointer = LLVM::LLVMPointerType::get(b_.getContext());
  SmallVector<Type> types;
  for (Type type : op.getValues().getTypes()) types.push_back(type.isF32() ? Type(b_.getF64Type()) : type);
  Value arguments = types.empty() ? Value(LLVM::ZeroOp::create(b_, loc_, pointer)) : Value();
  if (!types.empty()) {
    auto structure = LLVM::LLVMStructType::getLiteral(b_.getContext(), types);
    arguments = slot(structure);
    for (auto [i, value] : llvm::enumerate(op.getValues())) {
      Value v = mapped(value);
      if (v.getType().isF32()) v = arith::ExtFOp::create(b_, loc_, b_.getF64Type(), v);
      Value field = LLVM::GEPOp::create(b_, loc_, pointer, structure, arguments, ArrayRef<LLVM::GEPArg>{0, static_cast<std::int32_t>(i)});
      LLVM::StoreOp::create(b_, loc_, v, field);
    }
  }
  auto vprintf = system_function("vprintf", b_.getI32Type(), {pointer, pointer});
  LLVM::CallOp::create(b_, loc_, vprintf, ValueRange{text_address(op.getFormat()), arguments});
}

void Lowering::emit_assert(tile::AssertOp op) {
  auto pointer = LLVM::LLVMPointerType::get(b_.getContext());
  Value wrong = arith::XOrIOp::create(b_, loc_, mapped(op.getCondition()), arith::ConstantOp::create(b_, loc_, b_.getBoolAttr(true)));
  auto branch = scf::IfOp::create(b_, loc_, wrong, false);
  OpBuilder::InsertionGuard guard(b_);
  b_.setInsertionPoint(branch.thenBlock()->getTerminator());
  auto place = dyn_cast<FileLineColLoc>(op.getLoc());
  auto fail = system_function("__assertfail", LLVM::LLVMVoidType::get(b_.getContext()), {pointer, pointer, b_.getI32Type(), pointer, b_.getI64Type()});
  Value character = arith::ConstantOp::create(b_, loc_, b_.getI64IntegerAttr(1));
  LLVM::CallOp::create(b_, loc_, fail,
                       ValueRange{text_address(op.getMessage()), text_address(place ? place.getFilename().getValue() : ""), i32(place ? place.getLine() : 0),
                                  text_address(kernel_.getSymName()), character});
}

void Lowering::emit_ptx(tile::PtxOp op) {
  auto made = hopper::RawPtxOp::create(b_, loc_, op.getResultTypes(), op.getText(), mapped(op.getInputs()));
  map_.map(op.getOutputs(), made.getOutputs());
}

std::optional<LogicalResult> Lowering::emit_debug(Operation* op) {
  return llvm::TypeSwitch<Operation*, std::optional<LogicalResult>>(op)
      .Case<tile::PrintfOp>([&](auto o) { emit_printf(o); return success(); })
      .Case<tile::AssertOp>([&](auto o) { emit_assert(o); return success(); })
      .Case<tile::PtxOp>([&](auto o) { emit_ptx(o); return success(); })
      .Default([](Operation*) { return std::nullopt; });
}

}  // namespace tilewright::lowering
