// From the tile dialect to the hopper dialect: state shared by the files of this folder, one file an op family.
//
// The lowering walks a kernel in program order and emits, for every op, what each thread does. Order is the author's:
// nothing moves. Fragments become one llvm.alloca for each 32-bit register with static indices, which LLVM promotes.
#pragma once
#include <map>
#include <optional>
#include <set>

#include "compiler/verify/Launch.h"
#include "dialect/hopper/Hopper.h"
#include "dialect/layout/layout.h"
#include "dialect/tile/Tile.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/IRMapping.h"

namespace tilewright::lowering {

using mlir::Location;
using mlir::Type;
using mlir::Value;

using verify::LaunchPlan;
using verify::RolePlace;

/// One parameter of the emitted function.
struct Parameter {
  enum Kind { scalar, pointer, tensor_map } kind;
  int argument;                      // of the tile kernel
  std::vector<std::int64_t> box;     // tensor_map: one extent for each axis of the tensor
  bool ragged = false;
  bool swizzled = false;
  Value value;                       // in the emitted function
};

/// A place in shared memory: stage_base + byte offset of (row, col) of the root tile.
struct SharedPlace {
  layout::SharedLayout layout;
  Value stage_base;                  // i32 shared address of the stage (or of the arena)
  int offset = 0;                    // bytes from there to the tile
  Value row, col;                    // i32, null for 0
  int const_row = 0, const_col = 0;
  int rows = 0, cols = 0;            // extents of the view
  Type element;
  bool swizzled() const { return layout.kind == layout::SharedLayout::swizzle128; }
  /// Whether column 0 of the view begins a panel of a swizzled tile: then blocks of columns are one exclusive-or apart.
  bool begins_with_panel() const { return !col && const_col * layout.element_bytes % layout::kPanelBytes == 0; }
  /// Whether elements at an even column of the view and behind it can move together.
  bool pairs() const;
};

/// Whether an integer is a multiple of a power of two, whatever the kernel's arguments.
bool known_multiple(Value v, std::int64_t of);

/// Registers of a fragment.
struct Fragment {
  enum Kind { matrix, row_vector, col_vector } kind = matrix;
  int rows = 0, cols = 0;
  bool warp_scope = false;
  Type element;
  std::vector<Value> slots;          // one alloca for each register
  int number = 0;                    // in the order of declaration
  bool half() const { return element.getIntOrFloatBitWidth() == 16; }
  Type held(mlir::OpBuilder& b) const { return half() ? Type(b.getI32Type()) : element; }  // of a register
  int elements() const { return kind == matrix ? cols / 2 : kind == row_vector ? cols / 4 : 2; }
};

/// A role's running position in a ring.
struct RingPosition {
  Value stage, phase;                // allocas
};

struct RingPlan {
  int offset = 0;                    // of full[0]; empty[0] follows after the stages
  int stages = 0;
  int full_arrivals = 0, empty_arrivals = 0;
  int bytes = 0;                     // that TMA brings for each stage
  bool copied = false;               // by the producer's threads, whose arrivals say when
  int ctas = 1;                      // of the cluster that fill and empty a stage together
};
RingPlan plan_ring(tile::RingOp ring, const LaunchPlan& launch);
/// Arrivals that complete a phase of a barrier with named participants.
int arrivals_of(tile::BarrierOp barrier, const LaunchPlan& launch);

/// The variable of a traced kernel, in bytes; see Trace.cpp.
inline constexpr int kTraceHeaderBytes = 16, kStampBytes = 8, kStampsOfAWarp = 1024;

class Lowering {
 public:
  Lowering(tile::KernelOp kernel, mlir::OpBuilder& builder);
  /// Emits the function at the builder's insertion point. Failure has been reported as a diagnostic.
  mlir::LogicalResult run();
  const std::vector<Parameter>& parameters() const { return parameters_; }
  const LaunchPlan& launch() const { return launch_; }
  /// Of a traced kernel: names of the stamps, and bytes of the variable that holds them (0: not traced).
  const std::vector<std::string>& stamps() const { return stamps_; }
  std::int64_t trace_bytes() const { return trace_bytes_; }
  /// Registers of a thread that a fragment takes, once it was emitted.
  std::size_t registers_of(Value frag) const { return fragments_.at(frag.getAsOpaquePointer()).slots.size(); }

 private:
  // Kernel.cpp
  void collect_parameters();
  void declare_function();
  void initialise_barriers();
  void dispatch_roles();
  void emit_role(tile::RoleOp role);
  void emit_block(mlir::Block& block);
  mlir::LogicalResult emit(mlir::Operation* op);
  void emit_for(mlir::scf::ForOp loop);
  void emit_if(mlir::scf::IfOp branch);
  // Sync.cpp
  void start_rings(tile::RoleOp role);
  void emit_acquire(tile::AcquireOp op);
  void emit_wait(tile::WaitOp op);
  void emit_signal(Value ring, Value stage, bool full);
  void emit_sync();
  Value advance(const RingPosition& position, int stages);
  Value barrier_address(const RingPlan& plan, Value stage, bool full);
  void by_leader(llvm::function_ref<void()> body);
  void arrive(Value barrier);
  // Barriers.cpp
  std::optional<mlir::LogicalResult> emit_concurrent(mlir::Operation* op);
  void emit_arrive(tile::ArriveOp op);
  void emit_wait_for(tile::WaitForOp op);
  void emit_meet(tile::MeetOp op);
  void emit_while(mlir::scf::WhileOp loop);
  // Atomics.cpp
  std::optional<mlir::LogicalResult> emit_atomic(mlir::Operation* op);
  Value atomic_address(Value place, mlir::ValueRange coords);
  // Copies.cpp
  void emit_tma_load(tile::TmaLoadOp op);
  void emit_tma_store(tile::TmaStoreOp op);
  void emit_load(tile::LoadOp op);
  void load_fragment(const SharedPlace& place, const Fragment& f, bool transposed);
  void emit_store(tile::StoreOp op);
  void emit_half_vector(const SharedPlace& place, const Fragment& f, bool transposed, bool store);
  void emit_vector_store(const Fragment& from, const SharedPlace& to, bool transposed);
  Value tile_start(const SharedPlace& place);
  void emit_vector_load(const SharedPlace& from, const Fragment& to, bool transposed);
  mlir::SmallVector<Value> tma_coords(mlir::ValueRange coords, mlir::ValueRange ragged, int panel_start);
  Value map_parameter(Value tensor, llvm::ArrayRef<std::int64_t> box, bool ragged, bool swizzled);
  // Clusters.cpp
  std::optional<mlir::LogicalResult> emit_cluster(mlir::Operation* op);
  void meet_cluster();
  void arrive_in_cluster(Value barrier, llvm::StringRef scope);
  Value remote_address(Value tile, Value row, Value column, Value rank);
  // Debug.cpp
  std::optional<mlir::LogicalResult> emit_debug(mlir::Operation* op);
  void emit_printf(tile::PrintfOp op);
  void emit_assert(tile::AssertOp op);
  void emit_ptx(tile::PtxOp op);
  Value text_address(llvm::StringRef text);
  mlir::LLVM::LLVMFuncOp system_function(llvm::StringRef name, Type result, llvm::ArrayRef<Type> parameters);
  // Chunks.cpp
  struct Chunk { Value shared, global, inside; };  // shared address, pointer, whether the tensor has it
  struct ChunkBox { Value tensor, tile; mlir::ValueRange coords, ragged; llvm::ArrayRef<std::int64_t> box; };
  mlir::FailureOr<Chunk> chunk_at(const ChunkBox& from, const SharedPlace& place, Value row, Value col);
  mlir::LogicalResult each_chunk(const ChunkBox& from, llvm::function_ref<void(const Chunk&)> body);
  mlir::LogicalResult emit_copy_async(tile::CopyAsyncOp op);
  mlir::LogicalResult emit_copy_in(tile::CopyInOp op);
  mlir::LogicalResult emit_copy_out(tile::CopyOutOp op);
  void emit_bulk_load(tile::BulkLoadOp op);
  void emit_bulk_store(tile::BulkStoreOp op);
  std::optional<mlir::LogicalResult> emit_copy(mlir::Operation* op);
  // Memory.cpp
  SharedPlace place_of(Value tile);
  Value shared_address(const SharedPlace& place, Value row, Value col);
  Value matrix_address(const SharedPlace& place, int c0, bool transposed, bool warp_scope);
  Value matrix_block(const SharedPlace& place, Value lane_address, int c0, bool transposed, bool warp_scope);
  int matrix_offset(const SharedPlace& place, int c0, bool transposed);
  Value shared_pointer(Value address, int offset = 0);
  Value element_pointer(const SharedPlace& place, const Fragment& f, int index, bool transposed, Value& lane_address);
  Value global_pointer(Value tensor, mlir::ValueRange coords) { return pointer_at(tensor, mapped(coords)); }
  Value pointer_at(Value tensor, mlir::ValueRange coords);
  Value element_pointer(const SharedPlace& place, mlir::ValueRange coords, unsigned& alignment);
  Value load_element(Value pointer, Type element, unsigned alignment);
  void store_element(Value pointer, Type element, Value value);
  void emit_read(tile::ReadOp op);
  void emit_write(tile::WriteOp op);
  void emit_global(Value tensor, mlir::ValueRange coords, Value frag, int row_axis, int col_axis, bool store);
  mlir::FailureOr<Value> extent_of(Value tensor, unsigned axis);
  std::int64_t static_stride(Value tensor, unsigned axis);
  // Compute.cpp
  void emit_gemm(tile::GemmOp op);
  void emit_settle(Value batch, int pending);
  struct MapInput;
  Value map_element(MapInput& in, const Fragment& out, int index);
  void emit_map(tile::MapOp op);
  void emit_fill(tile::FillOp op);
  Value descriptor_low(const SharedPlace& place, bool transposed);
  void* tf32_operand(const Fragment& from);
  mlir::SmallVector<Value> taken_over(tile::GemmOp product);
  void fence_if_needed(tile::GemmOp product, llvm::ArrayRef<void*> frags);
  // WarpProducts.cpp
  void emit_mma(tile::MmaOp op);
  void multiply_half(const Fragment& acc, const Fragment& a, const SharedPlace& b, bool b_transposed);
  void multiply_tf32(const Fragment& acc, const Fragment& a, const SharedPlace& b, bool b_transposed);
  // Vectors.cpp
  void declare_view(tile::FragViewOp op);
  void emit_reduce(tile::ReduceOp op);
  void emit_scan(tile::ScanOp op);
  Value combine(mlir::StringRef kind, Value a, Value b);
  struct Prefix;
  Prefix prefix_of_lanes(mlir::StringRef kind, Value x, llvm::ArrayRef<int> masks, bool reverse);
  Value emit_math(tile::MathOp op);
  Value emit_round(tile::RoundOp op);
  // Calls.cpp
  void declare_cuda_function(tile::CudaFunctionOp op);
  void emit_call(tile::CallOp op);
  // Trace.cpp
  void start_trace();
  /// From here on the role does `name`.
  void stamp(mlir::StringRef name);
  /// What `body` emits is a wait; afterwards the role goes on with what it did.
  void waiting(mlir::StringRef name, llvm::function_ref<void()> body);
  // Fragments.cpp
  void declare_fragment(tile::FragOp op);
  Fragment new_fragment(int rows, int cols, Type element);
  std::vector<Value> slots_of(Value frag);
  void touch(void* frag);
  void touch(Value frag) { touch(frag.getAsOpaquePointer()); }
  Value slot(Type type);
  Value read_slot(Value slot, Type type);
  void write_slot(Value slot, Value value);
  mlir::SmallVector<Value> read_registers(const Fragment& f);
  void write_registers(const Fragment& f, mlir::ValueRange values);
  Value element(const Fragment& f, int index, mlir::SmallVector<Value>& cache);
  Value unpack(Value packed, bool high, Type type);
  Value pack(Value low, Value high, Type type);
  int index_in(const Fragment& f, int matrix_index) const;
  Value row_base(bool warp_scope);
  std::pair<int, int> constant_place(const Fragment& f, int index) const;
  Value row_index(const Fragment& f, int index);
  Value col_index(const Fragment& f, int index);

  // small arithmetic
  Value i32(std::int64_t value);
  Value f32(float value);
  Value add(Value a, Value b);
  Value add(Value a, std::int64_t b);
  Value mul(Value a, std::int64_t b);
  Value band(Value a, std::int64_t b);
  Value shr(Value a, std::int64_t b);
  Value shl(Value a, std::int64_t b);
  Value bxor(Value a, Value b);
  Value equal(Value a, std::int64_t b);
  Value mapped(Value v) const { return map_.lookup(v); }
  mlir::SmallVector<Value> mapped(mlir::ValueRange vs) const {
    mlir::SmallVector<Value> out;
    for (Value v : vs) out.push_back(map_.lookup(v));
    return out;
  }

  tile::KernelOp kernel_;
  mlir::OpBuilder& b_;
  Location loc_;
  LaunchPlan launch_;
  mlir::LLVM::LLVMFuncOp func_;
  mlir::IRMapping map_;
  std::vector<Parameter> parameters_;
  std::map<void*, Fragment> fragments_;
  std::map<void*, Value> vars_;
  std::map<void*, std::string> functions_;       // symbols of CUDA functions
  std::map<void*, RingPlan> rings_;
  std::map<std::pair<void*, bool>, RingPosition> positions_;  // (ring, as producer)
  std::map<void*, Value> phases_;                // of this role at each barrier that it waits for
  Value shared_base_, tid_, lane_, cta_warp_;
  // of the role being emitted
  RolePlace role_;
  Value role_warp_, role_thread_;
  std::vector<void*> open_accumulators_;         // products since the last batch
  std::vector<std::pair<void*, std::vector<void*>>> in_flight_;  // batches, oldest first, with their accumulators
  std::set<void*> touched_;                      // slots used by ordinary code since the wgmma.fence for them
  bool all_touched_ = true;
  mlir::Operation* failed_ = nullptr;
  // of a traced kernel
  bool traced_ = false;
  Value trace_end_, trace_end_of_lane_zero_, trace_place_;   // the last one a slot
  std::int64_t trace_bytes_ = 0;
  std::vector<std::string> stamps_;              // names by id, from 1
  std::string doing_;                            // the name of the last stamp of the author
};

}  // namespace tilewright::lowering
