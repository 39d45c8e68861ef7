// Asynchronous copies as agents of their own: queued when issued, performed later, in an order a policy decides.
#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

namespace tilewright::runtime::sim {

struct Cta;
struct Instruction;

/// A copy in flight. perform() moves the bytes and signals its barrier or bulk group; it may throw Fault.
class AsyncOperation {
 public:
  virtual ~AsyncOperation() = default;
  virtual void perform(Cta&) = 0;
  unsigned warp = 0;                        // who issued it, and where
  unsigned lane = 0;
  const Instruction* instruction = nullptr;
  std::uint64_t issued_turn = 0;
};

/// Decides which copy in flight completes next.
class CompletionPolicy {
 public:
  static constexpr std::size_t none = ~std::size_t{0};
  virtual ~CompletionPolicy() = default;
  /// Index of the operation to complete now, oldest first, or `none`. With `must` nothing else can happen: one is chosen.
  virtual std::size_t choose(const std::vector<std::unique_ptr<AsyncOperation>>& pending, std::uint64_t turn, bool must) = 0;
};

/// Completes in issue order, one scheduler turn after the issue at the earliest.
class InOrderCompletion final : public CompletionPolicy {
 public:
  std::size_t choose(const std::vector<std::unique_ptr<AsyncOperation>>& pending, std::uint64_t turn, bool must) override {
    if (pending.empty()) return none;
    return must || pending.front()->issued_turn < turn ? 0 : none;
  }
};

class AsyncQueue {
 public:
  AsyncQueue() : policy_(std::make_unique<InOrderCompletion>()) {}
  void set_policy(std::unique_ptr<CompletionPolicy> p) { policy_ = std::move(p); }
  void push(std::unique_ptr<AsyncOperation> op) { pending_.push_back(std::move(op)); }
  bool empty() const { return pending_.empty(); }
  void clear() { pending_.clear(); }
  /// Performs what the policy lets complete; true when something did.
  bool advance(Cta&, std::uint64_t turn, bool must);

 private:
  std::vector<std::unique_ptr<AsyncOperation>> pending_;
  std::unique_ptr<CompletionPolicy> policy_;
};

}  // namespace tilewright::runtime::sim
