// Kinds of user errors that callers of an operator tell apart.
#pragma once
#include "tilewright/error.h"

namespace tilewright::ops {

/// An argument that is wrong whatever the library can do. The message names it, what was given and what was expected.
class ArgumentError : public Error {
 public:
  using Error::Error;
};

/// A well-formed call that no kernel here serves.
class UnsupportedError : public Error {
 public:
  using Error::Error;
};

/// A kernel that could not be compiled or assembled, or that missed its resource contract.
class BuildError : public Error {
 public:
  using Error::Error;
};

}  // namespace tilewright::ops
