// How often each instruction stands in a PTX text.
#pragma once
#include <map>
#include <string>
#include <string_view>

namespace tilewright::cli {

/// Counts by opcode with its modifiers, e.g. "wgmma.mma_async.sync.aligned.m64n256k16.f32.bf16.bf16". Directives, labels and comments
/// do not count.
std::map<std::string, unsigned> ptx_histogram(std::string_view ptx);

}  // namespace tilewright::cli
