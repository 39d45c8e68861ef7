// The form that a built kernel has in the cache.
#pragma once
#include <optional>

#include "runtime/cache/record.h"
#include "runtime/ops/build.h"

namespace tilewright::ops {

cache::Record to_record(const Built&);

/// What a record says of a kernel without its code: the ledger's line.
struct KernelSummary {
  std::string name;
  Making making;
  std::string assembler;
  std::vector<assemble::ResourceReport> kernels;
  unsigned dynamic_shared_bytes = 0;
};
/// Nothing when the record is of something else. Throws Error when it is no kernel as to_record() writes it.
std::optional<KernelSummary> summary_of(const cache::Record&);

/// The reverse of to_record(). Throws Error as summary_of() does, and when the record is of something else.
Built from_record(const cache::Record&);

}  // namespace tilewright::ops
