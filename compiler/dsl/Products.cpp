// Tensor-core products.
#include "compiler/dsl/Operations.h"

using namespace mlir;

namespace tilewright::dsl {

namespace {

void gemm(Recording& r, Arguments& a) {
  r.in_role("a product");
  const Value acc = a.value(), left = a.value(), right = a.value(), accumulate = a.optional();
  const auto trans_a = r.flag(a.flag()), trans_b = r.flag(a.flag()), zero = r.flag(a.flag());
  r.check(r.make<tile::GemmOp>(acc, left, right, accumulate, trans_a, trans_b, zero));
}

void batch(Recording& r, Arguments& a) {
  r.in_role("batch");
  a.result(r.make<tile::BatchOp>(tile::BatchType::get(&r.context)));
}

void settle(Recording& r, Arguments& a) { r.make<tile::SettleOp>(a.value()); }

void settle_pending(Recording& r, Arguments& a) {
  r.in_role("settle_pending");
  r.make<tile::SettlePendingOp>(r.i32(a.integer()));
}

void mma(Recording& r, Arguments& a) {
  r.in_role("mma");
  const Value acc = a.value(), left = a.value(), right = a.value();
  const auto trans_a = r.flag(a.flag()), trans_b = r.flag(a.flag());
  r.check(r.make<tile::MmaOp>(acc, left, right, trans_a, trans_b));
}

}  // namespace

void add_products(Handlers& h) {
  h["gemm"] = gemm;
  h["batch"] = batch;
  h["settle"] = settle;
  h["settle_pending"] = settle_pending;
  h["mma"] = mma;
}

}  // namespace tilewright::dsl
