// Copies without a tensor map: boxes in chunks of 16 bytes shared among the role's threads, and contiguous bulk copies.
#include "compiler/passes/lowering/Lowering.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

namespace tilewright::lowering {

/// The chunk at (row, col) of the tile. An axis that is known to lie inside the tensor is not checked.
FailureOr<Lowering::Chunk> Lowering::chunk_at(const ChunkBox& from, const SharedPlace& place, Value row, Value col) {
  auto shape = cast<tile::GlobalType>(from.tensor.getType()).getShape();
  SmallVector<Value> at;
  Chunk chunk;
  for (size_t axis = 0; axis < shape.size(); ++axis) {
    bool is_row = axis + 1 < shape.size() && from.box[axis] > 1, is_col = axis + 1 == shape.size();
    bool ragged = axis == 0 && !from.ragged.empty();
    Value c = mapped(from.coords[axis]);
    if (is_row || is_col) c = add(c, is_col ? col : row);
    APInt start;
    bool inside = matchPattern(from.coords[axis], m_ConstantInt(&start)) && !ragged && !ShapedType::isDynamic(shape[axis]) && !start.isNegative() &&
                  start.getSExtValue() + from.box[axis] <= shape[axis];
    if (!inside) {
      FailureOr<Value> extent = ragged ? FailureOr<Value>(mapped(from.ragged[1])) : extent_of(from.tensor, axis);
      if (failed(extent)) return failure();
      Value fits = arith::CmpIOp::create(b_, loc_, arith::CmpIPredicate::ult, c, *extent);
      if (ragged)  // a count below zero holds nothing
        fits = arith::AndIOp::create(b_, loc_, fits, arith::CmpIOp::create(b_, loc_, arith::CmpIPredicate::sgt, *extent, i32(0)));
      chunk.inside = chunk.inside ? Value(arith::AndIOp::create(b_, loc_, chunk.inside, fits)) : fits;
    }
    at.push_back(ragged ? add(c, mapped(from.ragged[0])) : c);
  }
  if (!chunk.inside) chunk.inside = arith::ConstantOp::create(b_, loc_, b_.getBoolAttr(true));
  chunk.shared = shared_address(place, row, col);
  chunk.global = pointer_at(from.tensor, at);
  return chunk;
}

/// Calls body for every chunk of this thread: chunk t, t + threads, ... of the box, row by row.
LogicalResult Lowering::each_chunk(const ChunkBox& from, llvm::function_ref<void(const Chunk&)> body) {
  SharedPlace place = place_of(from.tile);
  int elements = layout::kChunkBytes / place.layout.element_bytes;
  int in_row = place.cols / elements, total = place.rows * in_row, threads = 32 * role_.warps;
  for (int first = 0; first < total; first += threads) {
    OpBuilder::InsertionGuard guard(b_);
    Value number = add(role_thread_, first);
    if (first + threads > total) {
      Value some = arith::CmpIOp::create(b_, loc_, arith::CmpIPredicate::ult, number, i32(total));
      auto branch = scf::IfOp::create(b_, loc_, some, false);
      b_.setInsertionPoint(branch.thenBlock()->getTerminator());
    }
    Value row = arith::DivUIOp::create(b_, loc_, number, i32(in_row));
    Value col = mul(arith::RemUIOp::create(b_, loc_, number, i32(in_row)), elements);
    auto chunk = chunk_at(from, place, row, col);
    if (failed(chunk)) return failure();
    body(*chunk);
  }
  return success();
}

LogicalResult Lowering::emit_copy_async(tile::CopyAsyncOp op) {
  return each_chunk({op.getTensor(), op.getTile(), op.getCoords(), op.getRagged(), op.getBox()}, [&](const Chunk& chunk) {
    Value bytes = arith::SelectOp::create(b_, loc_, chunk.inside, i32(layout::kChunkBytes), i32(0));
    hopper::CpAsyncOp::create(b_, loc_, chunk.shared, chunk.global, bytes);
  });
}

LogicalResult Lowering::emit_copy_in(tile::CopyInOp op) {
  auto words = VectorType::get({4}, b_.getI32Type());
  return each_chunk({op.getTensor(), op.getTile(), op.getCoords(), op.getRagged(), op.getBox()}, [&](const Chunk& chunk) {
    Value zeros = arith::ConstantOp::create(b_, loc_, DenseElementsAttr::get(words, b_.getI32IntegerAttr(0)));
    Value held = slot(words);
    write_slot(held, zeros);
    {
      auto branch = scf::IfOp::create(b_, loc_, chunk.inside, false);
      OpBuilder::InsertionGuard guard(b_);
      b_.setInsertionPoint(branch.thenBlock()->getTerminator());
      write_slot(held, LLVM::LoadOp::create(b_, loc_, words, chunk.global, layout::kChunkBytes));
    }
    LLVM::StoreOp::create(b_, loc_, read_slot(held, words), shared_pointer(chunk.shared), layout::kChunkBytes);
  });
}

LogicalResult Lowering::emit_copy_out(tile::CopyOutOp op) {
  auto words = VectorType::get({4}, b_.getI32Type());
  return each_chunk({op.getTensor(), op.getTile(), op.getCoords(), op.getRagged(), op.getBox()}, [&](const Chunk& chunk) {
    auto branch = scf::IfOp::create(b_, loc_, chunk.inside, false);
    OpBuilder::InsertionGuard guard(b_);
    b_.setInsertionPoint(branch.thenBlock()->getTerminator());
    Value v = LLVM::LoadOp::create(b_, loc_, words, shared_pointer(chunk.shared), layout::kChunkBytes);
    LLVM::StoreOp::create(b_, loc_, v, chunk.global, layout::kChunkBytes);
  });
}

static int bytes_of(const SharedPlace& p) { return p.rows * p.cols * p.layout.element_bytes; }

void Lowering::emit_bulk_load(tile::BulkLoadOp op) {
  SharedPlace p = place_of(op.getTile());
  Value full = barrier_address(rings_[op.getRing().getAsOpaquePointer()], mapped(op.getStage()), true);
  by_leader([&] { hopper::BulkFetchOp::create(b_, loc_, tile_start(p), global_pointer(op.getTensor(), op.getCoords()), i32(bytes_of(p)), full); });
}

void Lowering::emit_bulk_store(tile::BulkStoreOp op) {
  SharedPlace p = place_of(op.getTile());
  hopper::BulkStoreOp::create(b_, loc_, tile_start(p), global_pointer(op.getTensor(), op.getCoords()), i32(bytes_of(p)));
}

std::optional<LogicalResult> Lowering::emit_copy(Operation* op) {
  return llvm::TypeSwitch<Operation*, std::optional<LogicalResult>>(op)
      .Case<tile::CopyAsyncOp>([&](auto o) { return emit_copy_async(o); })
      .Case<tile::CopyInOp>([&](auto o) { return emit_copy_in(o); })
      .Case<tile::CopyOutOp>([&](auto o) { return emit_copy_out(o); })
      .Case<tile::BulkLoadOp>([&](auto o) { emit_bulk_load(o); return success(); })
      .Case<tile::BulkStoreOp>([&](auto o) { emit_bulk_store(o); return success(); })
      .Default([&](Operation* other) { return emit_cluster(other); });
}

}  // namespace tilewright::lowering
