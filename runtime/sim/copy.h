#pragma once
#include "runtime/sim/decode.h"

namespace tilewright::runtime::sim {

/// cp.async of 4, 8 or 16 bytes a thread, its groups and waits (small_copy.cpp). `what` is the modifier behind "async".
void decode_small_copy(Decode&);
/// cp.async.bulk and cp.reduce.async.bulk, tensor and plain (bulk_copy.cpp).
void decode_bulk_copy(Decode&);
/// st.async, whose space has been taken (remote_store.cpp).
void decode_remote_store(Decode&);

}  // namespace tilewright::runtime::sim
