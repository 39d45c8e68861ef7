// Maps, reductions and scans of fragments, and their views.
#include "compiler/dsl/Operations.h"

using namespace mlir;

namespace tilewright::dsl {

namespace {

void map_begin(Recording& r, Arguments& a) {
  r.in_role("an elementwise map");
  const auto inputs = a.list(), outputs = a.list();
  auto map = r.make<tile::MapOp>(inputs, outputs);
  Block& block = map.getBody().emplaceBlock();
  for (int axis = 0; axis < 2; ++axis) a.result(block.addArgument(r.ops.getI32Type(), r.loc()));
  for (std::size_t i = 0; i < inputs.size(); ++i) a.result(block.addArgument(r.ops.getF32Type(), r.loc()));
  r.enter(map, &block);
}

void map_end(Recording& r, Arguments& a) {
  r.make<tile::YieldOp>(a.values());
  r.check(r.close());
}

void wrong_map(Recording& r, Arguments& a) {
  const auto taken = a.integer(), given = a.integer();
  r.fail("the map's function takes " + std::to_string(taken) + " values beside row and column, given " + std::to_string(given) +
         " fragments; expected one value for each fragment");
}

void fill(Recording& r, Arguments& a) {
  const Value frag = a.value();
  r.make<tile::FillOp>(a.value(), frag);
}

void reduce(Recording& r, Arguments& a) {
  const Value input = a.value(), output = a.value();
  r.check(r.make<tile::ReduceOp>(input, output, r.text(a.text())));
}

void scan(Recording& r, Arguments& a) {
  const Value input = a.value(), output = a.value();
  const auto kind = r.text(a.text());
  const auto down = r.flag(a.flag()), exclusive = r.flag(a.flag()), reverse = r.flag(a.flag());
  r.check(r.make<tile::ScanOp>(input, output, kind, down, exclusive, reverse));
}

void frag_view(Recording& r, Arguments& a) {
  const Value frag = a.value();
  const auto column = r.i32(a.integer());
  auto from = r.typed<tile::FragType>(frag, "a fragment");
  auto type = tile::FragType::get(&r.context, {from.getShape()[0], a.integer()}, from.getElementType());
  a.result(r.checked(r.make<tile::FragViewOp>(type, frag, column)));
}

}  // namespace

void add_elementwise(Handlers& h) {
  h["map_begin"] = map_begin;
  h["map_end"] = map_end;
  h["wrong_map"] = wrong_map;
  h["fill"] = fill;
  h["reduce"] = reduce;
  h["scan"] = scan;
  h["frag_view"] = frag_view;
}

}  // namespace tilewright::dsl
