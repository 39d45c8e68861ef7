// Kernel: declarations of one kernel. Program: the finished kernel, ready to compile.
#pragma once
#include "tilewright/dsl/concurrency.h"
#include "tilewright/dsl/cuda.h"
#include "tilewright/dsl/debug.h"
#include "tilewright/dsl/ops.h"
#include "tilewright/dsl/vectors.h"

namespace tilewright {

/// An extent known at launch or at build time, and arithmetic on it for shapes and grids.
class Extent {
 public:
  Extent(std::int64_t value) : text_(std::to_string(value)) {}
  Extent(int value) : text_(std::to_string(value)) {}
  static Extent named(std::string_view name) {
    std::string text(1, '"');
    text += name;
    text += '"';
    return Extent(std::move(text), 0);
  }
  static Extent apply(std::string_view op, const Extent& a, const Extent& b) {
    std::string text("[\"");
    text += op;
    text += "\"," + a.text_ + "," + b.text_ + "]";
    return Extent(std::move(text), 0);
  }
  const std::string& text() const { return text_; }

 private:
  Extent(std::string text, int) : text_(std::move(text)) {}
  std::string text_;
};

/// A run-time extent: an Extent in shapes and grids, an Index in code.
class Dim : public Extent {
 public:
  Dim(Extent e, Index i) : Extent(std::move(e)), index_(i) {}
  operator Index() const { return index_; }
  Index index() const { return index_; }

 private:
  Index index_;
};

inline Extent ceil_div(const Extent& a, const Extent& b) { return Extent::apply("ceildiv", a, b); }
inline Extent ceil_div(const Dim& a, int b) { return Extent::apply("ceildiv", a, b); }
inline Extent operator*(const Extent& a, const Extent& b) { return Extent::apply("mul", a, b); }
inline Extent operator+(const Extent& a, const Extent& b) { return Extent::apply("add", a, b); }
inline Extent min(const Extent& a, const Extent& b) { return Extent::apply("min", a, b); }
inline Index ceil_div(Index a, int b) { return (a + (b - 1)) / b; }

/// Warps that a role runs on.
struct Warps { int count; bool single_thread; };
inline Warps warps(int n) { return {n, false}; }
inline Warps warpgroups(int n) { return {4 * n, false}; }
/// One thread, in a warp of its own (issue of asynchronous copies).
inline Warps one_thread() { return {1, true}; }

/// A role: named warps that run their body concurrently with the other roles.
class Role {
 public:
  Role(dsl::Builder* b, std::string name, Warps w, int registers) : builder_(b), name_(std::move(name)), warps_(w), registers_(registers) {}
  template <class F>
  void operator()(F&& body, Where where = Where::current()) const {
    builder_->at(where);
    builder_->role(name_, warps_.count, registers_, warps_.single_thread, std::forward<F>(body));
  }
  const std::string& name() const { return name_; }

 private:
  dsl::Builder* builder_;
  std::string name_;
  Warps warps_;
  int registers_;
};

/// Stages of tiles that pass from one role to others. Each role that uses it keeps its own running position.
class Ring {
 public:
  Ring(dsl::Builder* b, dsl::Id id) : builder_(b), id_(id) {}
  /// Producer: the next stage, once every consumer has released it.
  Stage acquire(Where where = Where::current()) const {
    builder_->at(where);
    return {{builder_, builder_->acquire(id_)}};
  }
  /// Consumer: the next stage, once it is full.
  Stage wait(Where where = Where::current()) const {
    builder_->at(where);
    return {{builder_, builder_->wait(id_)}};
  }
  /// Producer: its ordinary writes of the stage are done.
  void commit(Stage s, Where where = Where::current()) const {
    builder_->at(where);
    builder_->commit(id_, s.id);
  }
  /// Consumer: has read the stage for the last time.
  void release(Stage s, Where where = Where::current()) const {
    builder_->at(where);
    builder_->release(id_, s.id);
  }
  /// Producer: starts the copy of a box of a tensor into this stage.
  template <ElementTag T>
  void tma_load(Stage s, const Staged<T>& tile, const TensorBox<T>& from, Where where = Where::current()) const {
    builder_->at(where);
    builder_->tma_load(from, tile[s].id, id_, s.id);
  }
  /// Producer: starts the copy of a box into `part` of this stage, in every CTA of the cluster. Each CTA brings another part of the
  /// tile, all of one size, which together are the tile; the stage is empty when the consumers of all CTAs have released it.
  template <ElementTag T>
  void tma_multicast(Stage s, const Shared<T>& part, const TensorBox<T>& from, Where where = Where::current()) const {
    builder_->at(where);
    builder_->none(dsl::with_box(dsl::Call("tma_multicast").value(part.id).value(id_).value(s.id), from));
  }
  /// Producer: copies a box by its threads, 16 bytes each at a time, asynchronously (cp.async); commit(s) follows.
  template <ElementTag T>
  void copy_async(Stage s, const Staged<T>& tile, const TensorBox<T>& from, Where where = Where::current()) const {
    builder_->at(where);
    const dsl::Id to = tile[s].id;
    builder_->none(dsl::with_box(dsl::Call("copy_async").value(to).value(id_).value(s.id), from));
  }
  /// Producer: starts the copy of as many contiguous elements as the tile has, from `at` on, without a tensor map.
  template <ElementTag T>
  void bulk_load(Stage s, const Staged<T>& tile, const Tensor<T>& from, dsl::Coords at, Where where = Where::current()) const {
    const dsl::Ids coords = dsl::ids(*builder_, at);
    builder_->at(where);
    const dsl::Id to = tile[s].id;
    builder_->none(dsl::Call("bulk_load").value(to).value(id_).value(s.id).value(from.id).list(coords));
  }

 private:
  dsl::Builder* builder_;
  dsl::Id id_;
};

class Kernel {
 public:
  explicit Kernel(dsl::Builder& b) : builder_(&b) {}

  /// A run-time extent, bound at launch by the tensors' shapes or by name.
  Dim dim(std::string_view name, Where where = Where::current()) {
    builder_->at(where);
    return Dim(Extent::named(name), Index{{builder_, builder_->dim(name)}});
  }
  Index scalar_i32(std::string_view name, Where where = Where::current()) {
    builder_->at(where);
    return {{builder_, builder_->scalar(name, Element::i32)}};
  }
  Real scalar_f32(std::string_view name, Where where = Where::current()) {
    builder_->at(where);
    return {{builder_, builder_->scalar(name, Element::f32)}};
  }
  template <ElementTag T>
  Tensor<T> in(std::string_view name, std::vector<Extent> shape, Where where = Where::current()) { return tensor<T>(name, shape, "in", false, where); }
  template <ElementTag T>
  Tensor<T> out(std::string_view name, std::vector<Extent> shape, Where where = Where::current()) { return tensor<T>(name, shape, "out", false, where); }
  /// A tensor that the kernel reads and writes.
  template <ElementTag T>
  Tensor<T> inout(std::string_view name, std::vector<Extent> shape, Where where = Where::current()) { return tensor<T>(name, shape, "inout", false, where); }
  template <ElementTag T>
  Tensor<T> optional_in(std::string_view name, std::vector<Extent> shape, Where where = Where::current()) { return tensor<T>(name, shape, "in", true, where); }
  template <ElementTag T>
  Tensor<T> optional_out(std::string_view name, std::vector<Extent> shape, Where where = Where::current()) { return tensor<T>(name, shape, "out", true, where); }

  /// Launch grid; returns this CTA's indices.
  std::array<Index, 3> grid(Extent x, Extent y = 1, Extent z = 1, Where where = Where::current()) {
    builder_->at(where);
    builder_->grid({x.text(), y.text(), z.text()});
    return {Index{{builder_, builder_->block_index(0)}}, Index{{builder_, builder_->block_index(1)}}, Index{{builder_, builder_->block_index(2)}}};
  }
  /// Opt out of a resource contract: "spills", "stack" or "performance_loss".
  void allow(std::string_view what) { builder_->allow(what); }

  /// A tile in shared memory. Its layout follows from its use; `pad_bytes` lengthens the rows of a row-major tile.
  template <ElementTag T>
  Shared<T> shared(std::string_view name, Shape2 shape, int pad_bytes = 0, Where where = Where::current()) {
    builder_->at(where);
    return {builder_, builder_->shared(name, T::element, shape.rows, shape.cols, 1, pad_bytes), shape};
  }
  /// A tile that exists `stages` times, to be guarded by a ring of as many stages.
  template <ElementTag T>
  Staged<T> staged(std::string_view name, int stages, Shape2 shape, int pad_bytes = 0, Where where = Where::current()) {
    builder_->at(where);
    return {builder_, builder_->shared(name, T::element, shape.rows, shape.cols, stages, pad_bytes), shape};
  }
  /// Lets `tile` take over the memory of `under`. The author orders the uses of the two.
  template <ElementTag T, class Under>
  void overlay(const Shared<T>& tile, const Under& under, Where where = Where::current()) {
    builder_->at(where);
    builder_->overlay(tile.id, under.id);
  }
  /// The writers of these tiles do not fence; one fence before the first product or TMA store that reads one serves them all.
  template <class... Tiles>
  void defer_fences(const Tiles&... tiles) {
    (builder_->none(dsl::Call("defer_fence").value(tiles.id)), ...);
  }
  /// The compiler inserts no fences; it reports where one is missing.
  void manual_fences() { builder_->none(dsl::Call("manual_fences")); }
  /// The author answers for a property that the protocol verifier cannot decide of the ring, barrier, tile, tensor or role `subject`:
  /// a word of docs/verifier.md, such as "race". `reason` says why it holds. An error where it is refuted all the same, or nothing about it is undecided.
  void waive(std::string_view subject, std::string_view property, std::string_view reason, Where where = Where::current()) {
    builder_->at(where);
    builder_->none(dsl::Call("waive").text(subject).text(property).text(reason));
  }
  /// CTAs that should share an SM; bounds the registers of a thread.
  void ctas_per_sm(int count) { builder_->ctas_per_sm(count); }
  Role role(std::string_view name, Warps w, int registers = 0) { return Role(builder_, std::string(name), w, registers); }
  /// A ring over `tiles` from one role to others. Arrive counts and bytes are derived.
  template <class... Tiles>
  Ring ring(dsl::Named name, int stages, const Role& producer, std::vector<Role> consumers, const Tiles&... tiles) {
    std::vector<std::string> names;
    for (const auto& c : consumers) names.push_back(c.name());
    builder_->at(name.where);
    return Ring(builder_, builder_->ring(name.text, stages, producer.name(), names, {tiles.id...}));
  }

  /// An mbarrier by hand: a phase completes when all of `arrivers` have arrived; each of `waiters` waits for every phase. Counts are derived.
  Barrier barrier(dsl::Named name, std::vector<Role> arrivers, std::vector<Role> waiters) {
    std::vector<std::string> names;
    for (const auto* list : {&arrivers, &waiters})
      for (const Role& r : *list) names.push_back(r.name());
    builder_->at(name.where);
    return Barrier(builder_, builder_->one(dsl::Call("barrier").text(name.text).integer(arrivers.size()).texts(names)));
  }
  /// The same in a cluster: a phase completes when the arrivers of every CTA have arrived.
  Barrier cluster_barrier(dsl::Named name, std::vector<Role> arrivers, std::vector<Role> waiters) {
    std::vector<std::string> names;
    for (const auto* list : {&arrivers, &waiters})
      for (const Role& r : *list) names.push_back(r.name());
    builder_->at(name.where);
    const dsl::Id made = builder_->one(dsl::Call("barrier").text(name.text).integer(arrivers.size()).texts(names));
    builder_->none(dsl::Call("barrier_of_cluster").value(made));
    return Barrier(builder_, made);
  }
  /// CTAs run in clusters of x * y * z, at most 8: at the same time, with access to each other's shared memory. The grid's extents are multiples.
  void cluster(int x, int y = 1, int z = 1, Where where = Where::current()) {
    builder_->at(where);
    builder_->none(dsl::Call("cluster").integer(x).integer(y).integer(z));
  }
  /// This CTA's rank in its cluster, x first.
  Index cluster_rank(Where where = Where::current()) {
    builder_->at(where);
    return {{builder_, builder_->one(dsl::Call("cluster_rank"))}};
  }
  /// Index of this CTA's cluster along an axis of the grid, counted in clusters: the same in all its CTAs, as how often they use a multicast ring has to be.
  Index cluster_index(int axis = 0, Where where = Where::current()) {
    builder_->at(where);
    return {{builder_, builder_->one(dsl::Call("cluster_index").integer(axis))}};
  }
  /// Rendezvous of all threads of the cluster: every role calls it. And its two halves.
  void cluster_sync(Where where = Where::current()) { cluster_arrive(where), cluster_wait(where); }
  void cluster_arrive(Where where = Where::current()) {
    builder_->at(where);
    builder_->none(dsl::Call("cluster_arrive"));
  }
  void cluster_wait(Where where = Where::current()) {
    builder_->at(where);
    builder_->none(dsl::Call("cluster_wait"));
  }

  /// Prints for each thread that gets here: C's format with %d %u %x (Index), %lld %llu %llx (Long), %f %e %g (Real). Costs a stack, serialises products.
  template <class... In>
  void printf(dsl::Named format, const In&... values) { dsl::printf(*builder_, format, values...); }
  /// Ends the kernel with an error, with `message` and this line, in a thread where the condition does not hold. Costs like printf.
  void assert_(Pred condition, std::string_view message, Where where = Where::current()) {
    builder_->at(where);
    builder_->none(dsl::Call("assert").text(message).value(condition.id));
  }
  /// The last resort: PTX text in which `#0`, `#1` are the inputs and `#out0`, `#out1` results of the types Out; gives one value or a tuple.
  template <dsl::PtxValue... Out, dsl::PtxValue... In>
  auto ptx(dsl::Named text, const In&... in) { return dsl::ptx<Out...>(*builder_, text, in...); }

  /// The function `name` of CUDA C++ text, for calls in roles and maps: k.cuda_function<Real(Real)>("float twice(float x) {...}",
  /// "twice"). Mistakes in the text are reported at their line of it.
  template <class Signature>
  CudaFunction<Signature> cuda_function(dsl::Named text, std::string_view name) {
    builder_->at(text.where);
    return {builder_, builder_->cuda_function(text.text, name, CudaFunction<Signature>::types())};
  }
  /// A register fragment of the role under construction.
  template <ElementTag T>
  Frag<T> frag(Shape2 shape, std::string_view name = "", Where where = Where::current()) {
    builder_->at(where);
    return {builder_, builder_->frag(name, T::element, shape.rows, shape.cols), shape};
  }
  /// Closes the products started since the last batch into one.
  Batch batch(Where where = Where::current()) {
    builder_->at(where);
    return {{builder_, builder_->batch()}};
  }
  /// Waits until at most `pending` batches of this role are in flight.
  void settle_pending(int pending, Where where = Where::current()) {
    builder_->at(where);
    builder_->settle_pending(pending);
  }
  /// Rendezvous of the role's threads.
  void sync(Where where = Where::current()) { builder_->at(where); builder_->sync(); }
  void warp_sync(Where where = Where::current()) { builder_->at(where); builder_->warp_sync(); }
  /// Rendezvous of all threads of several roles, each of which calls this.
  void meet(std::vector<Role> roles, Where where = Where::current()) { meeting(roles, false, where); }
  /// The same for a role that need not wait: the others know that it has come.
  void meet_arrive(std::vector<Role> roles, Where where = Where::current()) { meeting(roles, true, where); }
  /// while (condition()) body(), at run time; `condition` gives a Pred and is evaluated before every round.
  template <class F, class G>
  void while_(F&& condition, G&& body, Where where = Where::current()) {
    builder_->at(where);
    builder_->none(dsl::Call("while_begin"));
    const Pred go_on = condition();
    builder_->at(where);
    builder_->none(dsl::Call("while_do").value(go_on.id));
    body();
    builder_->at(where);
    builder_->none(dsl::Call("end"));
  }
  /// Waits until condition(), sleeping about `nanoseconds` between two looks. What it reads is read with load_acquire.
  template <class F>
  void poll_until(F&& condition, int nanoseconds = 32, Where where = Where::current()) {
    while_([&] { return !condition(); }, [&] { sleep(nanoseconds, where); }, where);
  }
  /// Leaves the execution units to other warps for about so long.
  void sleep(int nanoseconds, Where where = Where::current()) {
    builder_->at(where);
    builder_->none(dsl::Call("sleep").integer(nanoseconds));
  }
  /// Orders this thread's accesses before it against those after it, as seen in `scope`.
  void fence(Scope scope, Where where = Where::current()) {
    builder_->at(where);
    builder_->none(dsl::Call("fence").text(dsl::text_of(scope)));
  }
  void fence_async(Where where = Where::current()) { builder_->at(where); builder_->fence_async(); }
  /// Orders this thread's ordinary writes to global memory before later reads by TMA. Inserted where the kernel does both.
  void fence_async_global(Where where = Where::current()) {
    builder_->at(where);
    builder_->none(dsl::Call("fence_async_global"));
  }
  void grid_wait(Where where = Where::current()) { builder_->at(where); builder_->grid_wait(); }
  void grid_launch(Where where = Where::current()) { builder_->at(where); builder_->grid_launch(); }
  /// This thread's TMA stores so far: waits until at most `pending` groups still read shared memory.
  void store_wait(int pending, Where where = Where::current()) { builder_->at(where); builder_->store_wait(pending, false); }
  /// As store_wait(0), until the data is in global memory.
  void store_wait_complete(Where where = Where::current()) { builder_->at(where); builder_->store_wait(0, true); }

  /// body(i) for every warp i of the role: one branch a warp, in which i is known at build time.
  template <class F>
  void each_warp(F&& body, Where where = Where::current()) {
    builder_->at(where);
    const Index mine = warp();
    for (int i = 0; i < builder_->warps(); ++i) if_(mine == i, [&] { body(i); }, where);
  }
  /// A mark on the role's time line: from here on it does `name`, until the next mark. `tilewright trace` shows it; a kernel that is not
  /// compiled for a trace has nothing of it.
  void stamp(std::string_view name, Where where = Where::current()) { builder_->at(where); builder_->stamp(name); }

  Index thread() { return {{builder_, builder_->thread()}}; }
  Index lane() { return {{builder_, builder_->lane()}}; }
  Index warp() { return {{builder_, builder_->warp()}}; }
  Index uniform(Index x) { return {{builder_, builder_->uniform(x.id)}}; }
  Real shuffle_up(Real x, int delta) { return {{builder_, builder_->shuffle(x.id, index(delta).id, "up")}}; }
  Index shuffle_xor(Index x, int mask) { return {{builder_, builder_->shuffle(x.id, index(mask).id, "xor")}}; }
  Real shuffle(Real x, Index lane) { return {{builder_, builder_->shuffle(x.id, lane.id, "idx")}}; }
  Index index(int value) { return {{builder_, builder_->constant(std::int64_t{value}, Element::i32)}}; }
  Real real(double value) { return {{builder_, builder_->constant(static_cast<float>(value))}}; }

 private:
  void meeting(const std::vector<Role>& roles, bool arrive_only, const Where& where) {
    std::vector<std::string> names;
    for (const Role& r : roles) names.push_back(r.name());
    builder_->at(where);
    builder_->none(dsl::Call("meet").texts(names).integer(arrive_only));
  }
  template <ElementTag T>
  Tensor<T> tensor(std::string_view name, const std::vector<Extent>& shape, std::string_view role, bool optional, Where where) {
    builder_->at(where);
    std::vector<std::string> text;
    for (const auto& e : shape) text.push_back(e.text());
    return {builder_, builder_->tensor(name, T::element, text, role, optional)};
  }
  dsl::Builder* builder_;
};

/// A finished kernel.
class Program {
 public:
  explicit Program(std::shared_ptr<dsl::Builder> b) : builder_(std::move(b)) {}
  dsl::Builder& builder() const { return *builder_; }

 private:
  std::shared_ptr<dsl::Builder> builder_;
};

/// Builds a kernel: `body` declares tensors, tiles, rings and roles.
template <class F>
Program kernel(std::string_view name, F&& body, Where where = Where::current()) {
  auto builder = std::make_shared<dsl::Builder>(name, where);
  Kernel k(*builder);
  body(k);
  return Program(std::move(builder));
}

}  // namespace tilewright
