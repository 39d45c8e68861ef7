// What may look on while kernels run: a counter, a shadow computation. Without one nothing is paid.
#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>

#include "runtime/sim/machine.h"
#include "runtime/sim/tensor_map.h"

namespace tilewright::runtime::sim {

/// Where a bulk copy carried its bytes.
enum class Transfer : std::uint8_t { in, out, reduction, within_shared, multicast };

/// Sees the CTAs that one host thread runs.
class Observer {
 public:
  virtual ~Observer() = default;
  /// A CTA begins: its registers and its shared memory are fresh.
  virtual void begin(Cta&) {}
  /// Executes an instruction for lanes that its guard lets through, and returns what its function returned.
  virtual Step execute(Warp& w, const Instruction& i, LaneMask m) { return i.exec(w, i, m); }
  /// A bulk copy moved its bytes; one call for each target of a multicast.
  virtual void transferred(Transfer, std::uint64_t /*bytes*/) {}
  /// A copy has written `bytes` bytes at `to`: those at `from`, or zeros where that is null.
  virtual void copied(std::byte* /*to*/, const std::byte* /*from*/, std::size_t /*bytes*/) {}
  /// A copy has reduced `bytes` bytes at `from` into `to`, which held `before`.
  virtual void reduced(std::byte* /*to*/, const std::byte* /*before*/, const std::byte* /*from*/, std::size_t /*bytes*/, MapElement, Reduction) {}
  /// A wgmma of a warpgroup is about to be executed, and has been.
  virtual void product_begins(Cta&, unsigned /*group*/, const WgmmaRecord&) {}
  virtual void product_ended(Cta&, unsigned /*group*/, const WgmmaRecord&) {}
};

/// Makes the observers of a launch, one for each host thread, and takes in what they saw.
class Instrument {
 public:
  virtual ~Instrument() = default;
  virtual std::unique_ptr<Observer> observe(const Launch&) = 0;
  /// The thread of an observer has ended. Calls do not overlap.
  virtual void finish(const Launch&, Observer&) = 0;
  /// Whether all CTAs must run on one host thread.
  virtual bool one_thread() const { return false; }
};

}  // namespace tilewright::runtime::sim
