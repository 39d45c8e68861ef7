// The abstract machine: every warp of every role runs its code with vector clocks; asynchronous agents are components of their own.
//
// Barriers make a kernel's protocol confluent: as long as no arrival can fall into a phase that is not its own and no wait can miss its
// phase, every interleaving makes the same waits pass, so one run decides them all. Both conditions are checked as "happens before",
// which does not depend on the run's order; so are conflicts over memory.
#pragma once
#include <deque>
#include <memory>

#include "compiler/verify/protocol/History.h"
#include "compiler/verify/protocol/Program.h"
#include "compiler/verify/protocol/Waivers.h"

namespace tilewright::verify::protocol {

inline constexpr std::uint32_t kNever = 0xffffffffu;

/// What is known to have happened, by component. `fenced`: what of it lies before a proxy fence of shared memory, `published`: of
/// global memory.
struct Clock {
  std::vector<std::uint32_t> seen, fenced, published;
  explicit Clock(std::size_t n = 0) : seen(n), fenced(n), published(n) {}
  void join(const Clock& other);
};

/// A mistake, or what cannot be decided.
struct Finding {
  mlir::Operation* at = nullptr;
  std::string property, subject, text, hint;
  bool undecided = false;
  std::optional<mlir::Location> waiver;  ///< that asks for this property, of which it is a refutation
  struct Step {
    mlir::Operation* at;
    std::string text;
  };
  std::vector<Step> steps;
};

/// A barrier: of one stage of a ring, by hand, a named barrier, or the cluster's.
struct Signal {
  enum Kind : std::uint8_t { full, empty, hand, sync, meeting, cluster } kind = full;
  int cta = 0, index = 0, stage = 0;       // of the ring, barrier, role or meeting
  int component = 0, count = 0, pending = 0;
  std::int64_t bytes = 0, done = 0;        // bytes still to land; complete phases
  Clock gathering, last;
  std::vector<std::array<int, 2>> arrivals;  // by actor: by itself, and of the leader's announcement
  struct Waited {
    std::int64_t phase = -1;
    std::uint32_t at = 0;
    const Instr* instr = nullptr;
  };
  std::vector<Waited> waited;                // by actor
};

struct Frame {
  Code kind = Code::loop;
  int begin = 0;
  std::int64_t left = 0, passed = 0;
  Val step, index;
  std::uint32_t mask = 0, otherwise = 0;
  bool maybe = false;
};

/// A warp, or the one thread of a role.
struct Actor {
  int number = 0, role = 0, cta = 0, warp = 0, pc = 0;
  std::uint32_t lanes = 0, mask = 0;
  std::vector<Val> scalars;
  std::vector<Frame> frames;
  int maybe = 0;                             // branches around that may not be taken
  Clock clock;
  std::uint32_t converged = 0;               // when the warp's lanes last met
  std::vector<std::int64_t> acquired, consumed;  // stages, by ring
  std::vector<std::vector<int>> held, taken; // by ring and stage: acquires without commit, waits without release
  std::vector<std::int64_t> waits;           // by barrier
  std::int64_t batches = 0, settled = 0, store_groups = 0, stored = 0, meetings = 0;
  std::vector<std::uint32_t> settle_times, store_times;
  std::uint32_t store_mask = 0;
  const Instr* last_product = nullptr;
  const Instr* last_store = nullptr;
  bool open_products = false, open_stores = false;
  bool half = false, ended = false;
  int blocked = -1;                          // signal
  std::int64_t blocked_phase = 0;
  bool fenced = false, ordered = false;      // by a fence of memory order: since the last look at a flag; ever
};

struct Event {
  int actor;
  const Instr* instr;
  int subject;  // kind of subject and its number
};

class Machine {
 public:
  Machine(const Program& program, Values& values, Choices& choices, Waivers& waivers);
  /// One run with the choices as they stand; what it finds, or nothing.
  std::optional<Finding> run();
  std::int64_t steps() const { return steps_; }
  std::int64_t compared() const { return compared_; }  ///< pairs of accesses that were looked at
  static constexpr std::int64_t kMostSteps = std::int64_t{1} << 24;  // of all runs
  /// Whether the last run was not followed to its end, since it took the last step.
  bool gave_up() const { return gave_up_; }

 private:
  // Control and scalars (Machine.cpp)
  void reset();
  bool advance(Actor& a);
  bool step(Actor& a, const Instr& i);
  Val unknown(const Actor& a);
  void scalar(Actor& a, const Instr& i);
  void control(Actor& a, const Instr& i);
  void begin_loop(Actor& a, const Instr& i);
  void begin_branch(Actor& a, const Instr& i);
  void test_loop(Actor& a, const Instr& i);
  void finish(Actor& a, const Instr& i);
  Val in(const Actor& a, const Instr& i, std::size_t n = 0) const { return a.scalars[static_cast<std::size_t>(i.in[n])]; }

  // Barriers (Signals.cpp)
  bool synchronise(Actor& a, const Instr& i);
  bool wait(Actor& a, const Instr& i, int signal, std::int64_t phase);
  void arrive(Actor& a, const Instr& i, int signal, bool announces = false);
  void complete(Signal& s, const Instr& i);
  bool converges(Actor& a, const Instr& i);
  std::optional<int> stage_of(Actor& a, const Instr& i);
  bool acquire(Actor& a, const Instr& i);
  void release(Actor& a, const Instr& i);
  void land(Actor& a, const Instr& i);
  bool rendezvous(Actor& a, const Instr& i, int signal);
  int ring_signal(int cta, int ring, int stage, bool full) const;

  // Memory (Memory.cpp)
  void touch(Actor& a, const Instr& i);
  void touch(Actor& a, const Instr& i, const TileUse& use, int cta, Access access);
  bool locate(Actor& a, const TileUse& use, Access& access);
  void forget(History& list);
  void compare(Actor& a, const Access& old, const Access& now);
  void blame(Actor& a, const Access& old, const Access& now, bool ordered, bool fresh_lanes);
  bool overlap(const Access& x, const Access& y) const;
  bool nothing_to_find(const Actor& a, const Segment& old, const Access& now) const;
  std::uint32_t end_of(int actor, bool product, std::int64_t group, std::uint32_t end) const;
  std::uint32_t end_of(const Access& x) const { return end_of(x.actor, x.product, x.group, x.end); }
  const Elements* elements(Val row, Val column, std::uint32_t mask);
  void asynchronous(Actor& a, const Instr& i);
  void add_once(Actor& a, const Instr& i);
  // Tensors (Tensors.cpp)
  void access(Actor& a, const Instr& i);
  void write_tensor(Actor& a, const Instr& i);
  void load_tensor(Actor& a, const Instr& i, std::int64_t tensor);
  void publish(Actor& a, const Instr& i);
  void look(Actor& a, const Instr& i);
  void read_after_look(Actor& a, const Instr& i, bool by_tma);
  std::string tensor_name(std::int64_t tensor) const;
  Val read_element(Actor& a, const Instr& i, const Access& at);
  void write_element(Actor& a, const Instr& i, const Access& at);

  // Reports (Report.cpp)
  /// Whether it stands: what is undecided may be waived, and the run goes on as if it held.
  bool report(Actor& a, const Instr& i, const char* property, std::string subject, std::string text, std::string hint, bool undecided = false);
  void add_steps(const std::vector<int>& subjects);
  void starvation();
  std::string signal_name(const Signal& s) const;
  std::string subject_of(const Signal& s) const;
  std::string doing(const Instr& i) const;
  std::string who(const Actor& a) const;
  void note(const Actor& a, const Instr& i, int subject) { events_.push_back({a.number, &i, subject}); }

  const Program& program_;
  Values& values_;
  Choices& choices_;
  Waivers& waivers_;
  int ctas_ = 1, signals_of_cta_ = 0;
  std::vector<int> ring_base_, sync_base_;
  int barrier_base_ = 0, meeting_base_ = 0, cluster_signal_ = -1;
  std::vector<Actor> actors_;
  std::vector<Signal> signals_;
  std::vector<History> memory_;                        // by CTA and memory
  std::vector<std::vector<Access>> tensors_;           // ordinary writes of watched tensors
  /// Of a CTA's role: ordinary writes of tensors that a flag may publish, and its last look at a flag.
  std::vector<std::vector<Access>> published_;
  struct Look {
    const Instr* instr = nullptr;
    int actor = 0;
    std::uint32_t at = 0, mask = 0;
  };
  std::vector<Look> looks_;
  std::map<std::array<std::int64_t, 5>, Val> elements_;  // of tiles that steer control flow
  std::map<std::array<std::int64_t, 3>, std::int64_t> versions_;
  std::deque<Elements> element_sets_;                  // in all runs
  llvm::DenseMap<std::tuple<std::uint64_t, std::int64_t, std::int64_t>, const Elements*> known_elements_;  // by kinds and lanes, row and column
  struct Addition {
    int actor;
    std::ptrdiff_t nth;  // of the actor's
    std::vector<Val> place;
  };
  std::map<std::pair<const Instr*, int>, std::vector<Addition>> additions_;  // by instruction and CTA
  std::vector<Event> events_;
  std::optional<Finding> finding_;
  bool gave_up_ = false;
  std::int64_t steps_ = 0, compared_ = 0;
};

}  // namespace tilewright::verify::protocol
