// Shared by the unit tests of errors.
#pragma once
#include <gmock/gmock.h>

#include <string>

#include "tilewright/error.h"

namespace tilewright::test {

/// The message of the Error that an action throws, "no error" where it throws none.
template <class F>
std::string error_of(F action) {
  try {
    action();
  } catch (const Error& error) {
    return error.what();
  }
  return "no error";
}

}  // namespace tilewright::test
