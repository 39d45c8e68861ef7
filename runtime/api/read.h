// Sized structs of callers.
#pragma once
#include <algorithm>
#include <cstdint>
#include <cstring>
#include <string>

#include "runtime/ops/errors.h"

namespace tilewright::api {

/// The caller's struct may be that of an older or a newer header: what it lacks reads as zero, what it has beyond ours must be zero.
/// `oldest` is the size of the first struct of this name.
template <class Args>
Args read(const Args* given, const char* who, const char* type, std::uint64_t oldest = sizeof(Args)) {
  if (given == nullptr) throw ops::ArgumentError(std::string(who) + ": args is NULL");
  constexpr std::uint64_t largest = 1 << 16;
  if (given->size < oldest || given->size > largest)
    throw ops::ArgumentError(std::string(who) + ": size is " + std::to_string(given->size) + ", expected sizeof(" + type + ") = " + std::to_string(sizeof(Args)));
  Args args{};
  std::memcpy(&args, given, std::min<std::uint64_t>(given->size, sizeof args));
  const auto* bytes = reinterpret_cast<const unsigned char*>(given);
  if (std::any_of(bytes + sizeof args, bytes + std::max<std::uint64_t>(given->size, sizeof args), [](unsigned char b) { return b != 0; }))
    throw ops::UnsupportedError(std::string(who) + ": args has fields that this library (" TILEWRIGHT_VERSION ") does not know");
  return args;
}

}  // namespace tilewright::api
