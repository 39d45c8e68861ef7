// Structs whose first field is the size that the caller's header gave them.
#pragma once
#include <algorithm>
#include <cstring>
#include <string>

#include "runtime/ops/errors.h"

namespace tilewright::api {

/// The caller's struct as this library knows it. It may be that of an older or a newer header: what it lacks reads as zero, what
/// it has beyond ours must be zero. `oldest` is the size that the struct had when it was first published. Throws ArgumentError
/// and UnsupportedError that name `who`.
template <class T>
T read_sized(const T* given, std::uint64_t oldest, const std::string& who) {
  if (given == nullptr) throw ops::ArgumentError(who + " is NULL");
  constexpr std::uint64_t largest = 1 << 16;
  if (given->size < oldest || given->size > largest)
    throw ops::ArgumentError(who + ": size is " + std::to_string(given->size) + ", expected the sizeof of the struct, " +
                             std::to_string(sizeof(T)) + " in this library");
  T read{};
  std::memcpy(&read, given, std::min<std::uint64_t>(given->size, sizeof read));
  const auto* bytes = reinterpret_cast<const unsigned char*>(given);
  if (given->size > sizeof read && std::any_of(bytes + sizeof read, bytes + given->size, [](unsigned char b) { return b != 0; }))
    throw ops::UnsupportedError(who + " has fields that this library (" TILEWRIGHT_VERSION ") does not know");
  return read;
}

}  // namespace tilewright::api
