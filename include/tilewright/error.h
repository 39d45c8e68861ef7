#pragma once
#include <stdexcept>
#include <string>

namespace tilewright {

/// A mistake of the user: wrong argument, wrong shape, missing tool or device.
/// The message names what was given, what was expected and, where there is one, a way to mend it.
class Error : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// A broken invariant inside Tilewright: never the user's fault, always worth a bug report.
class InternalError : public std::logic_error {
 public:
  using std::logic_error::logic_error;
};

}  // namespace tilewright
