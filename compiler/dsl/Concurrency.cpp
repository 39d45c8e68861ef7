// Barriers with named participants, loops with a condition, atomics and accesses that several threads make at once.
#include "compiler/dsl/Operations.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;

namespace tilewright::dsl {

namespace {

ArrayAttr names(Recording& r, ArrayRef<llvm::StringRef> all) {
  SmallVector<Attribute> out;
  for (llvm::StringRef s : all) out.push_back(r.text(s));
  return r.ops.getArrayAttr(out);
}

/// Arrivers and then waiters; the integer says how many arrive.
void barrier(Recording& r, Arguments& a) {
  const auto name = a.text();
  r.in_kernel("barrier \"" + name.str() + "\"");
  const auto arriving = static_cast<size_t>(a.integer());
  const auto roles = a.texts();
  const ArrayRef<llvm::StringRef> all(roles);
  if (arriving > all.size()) throw Malformed("a barrier of " + std::to_string(all.size()) + " roles, of which " + std::to_string(arriving) + " arrive");
  a.result(r.checked(r.make<tile::BarrierOp>(tile::BarrierType::get(&r.context), r.text(name), names(r, all.take_front(arriving)),
                                             names(r, all.drop_front(arriving)), IntegerAttr())));
}
void arrive(Recording& r, Arguments& a) {
  r.in_role("arrive");
  r.make<tile::ArriveOp>(a.value());
}
void wait_for(Recording& r, Arguments& a) {
  r.in_role("wait");
  r.make<tile::WaitForOp>(a.value());
}
void meet(Recording& r, Arguments& a) {
  r.in_role("meet");
  const auto roles = names(r, a.texts());
  r.check(r.make<tile::MeetOp>(roles, r.flag(a.flag())));
}

void while_begin(Recording& r, Arguments&) {
  r.in_role("a loop");
  auto loop = r.make<scf::WhileOp>(TypeRange(), ValueRange());
  r.enter(loop, &loop.getBefore().emplaceBlock());
}
void while_do(Recording& r, Arguments& a) {
  const Value condition = a.value();
  r.make<scf::ConditionOp>(condition, ValueRange());
  auto loop = dyn_cast<scf::WhileOp>(r.close());
  if (!loop) throw Malformed("a condition without its loop");
  Block& body = loop.getAfter().emplaceBlock();
  {
    OpBuilder::InsertionGuard guard(r.ops);
    r.ops.setInsertionPointToEnd(&body);
    r.make<scf::YieldOp>();
  }
  r.enter(loop, &body);
}

void sleep(Recording& r, Arguments& a) {
  r.in_role("sleep");
  r.check(r.make<tile::SleepOp>(r.i32(a.integer())));
}
void fence(Recording& r, Arguments& a) {
  r.in_role("fence");
  r.check(r.make<tile::FenceOp>(r.text(a.text())));
}

/// What was read or is written: one element.
Type element_type(Recording& r, Value place) {
  if (auto shared = dyn_cast<tile::SharedType>(place.getType())) return shared.getElementType();
  return r.typed<tile::GlobalType>(place, "a tensor or a tile").getElementType();
}

void load_strong(Recording& r, Arguments& a) {
  r.in_role("a load");
  const auto order = r.text(a.text()), scope = r.text(a.text());
  const Value tensor = a.value();
  a.result(r.checked(r.make<tile::LoadStrongOp>(element_type(r, tensor), tensor, a.list(), order, scope)));
}
void store_strong(Recording& r, Arguments& a) {
  r.in_role("a store");
  const auto order = r.text(a.text()), scope = r.text(a.text());
  const Value value = a.value(), tensor = a.value();
  r.check(r.make<tile::StoreStrongOp>(value, tensor, a.list(), order, scope));
}
void atomic(Recording& r, Arguments& a) {
  r.in_role("an atomic");
  const auto kind = r.text(a.text()), order = r.text(a.text()), scope = r.text(a.text());
  const Value value = a.value(), to = a.value();
  a.result(r.checked(r.make<tile::AtomicOp>(value.getType(), kind, value, to, a.list(), order, scope)));
}
void atomic_cas(Recording& r, Arguments& a) {
  r.in_role("an atomic");
  const auto order = r.text(a.text()), scope = r.text(a.text());
  const Value compare = a.value(), value = a.value(), to = a.value();
  a.result(r.checked(r.make<tile::AtomicCasOp>(value.getType(), compare, value, to, a.list(), order, scope)));
}
void red(Recording& r, Arguments& a) {
  r.in_role("an atomic");
  const auto kind = r.text(a.text()), order = r.text(a.text()), scope = r.text(a.text());
  const Value to = a.value();
  const auto values = a.list();
  r.check(r.make<tile::RedOp>(kind, values, to, a.list(), order, scope));
}

}  // namespace

void add_concurrency(Handlers& h) {
  h["barrier"] = barrier;
  h["arrive"] = arrive;
  h["wait_for"] = wait_for;
  h["meet"] = meet;
  h["while_begin"] = while_begin;
  h["while_do"] = while_do;
  h["sleep"] = sleep;
  h["fence"] = fence;
  h["load_strong"] = load_strong;
  h["store_strong"] = store_strong;
  h["atomic"] = atomic;
  h["atomic_cas"] = atomic_cas;
  h["red"] = red;
}

}  // namespace tilewright::dsl
