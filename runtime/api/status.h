// From exceptions to a status and the thread's message: no exception leaves the C interface.
#pragma once
#include <exception>
#include <new>
#include <string>

#include "runtime/ops/errors.h"
#include "tilewright/tilewright.h"

namespace tilewright::api {

/// Message of this thread's last failed call.
std::string& last_error();

/// Keeps the message, returns the status.
tilewright_status fail(tilewright_status status, const std::string& message);

/// Runs `body` and turns what it throws into a status. An Error of no narrower kind becomes `otherwise`.
template <class Body>
tilewright_status guarded(tilewright_status otherwise, Body&& body) noexcept {
  try {
    body();
    return TILEWRIGHT_OK;
  } catch (const ops::ArgumentError& error) {
    return fail(TILEWRIGHT_INVALID_ARGUMENT, error.what());
  } catch (const ops::UnsupportedError& error) {
    return fail(TILEWRIGHT_UNSUPPORTED, error.what());
  } catch (const ops::BuildError& error) {
    return fail(TILEWRIGHT_COMPILE_FAILED, error.what());
  } catch (const Error& error) {
    return fail(otherwise, error.what());
  } catch (const std::exception& error) {
    return fail(TILEWRIGHT_INTERNAL, error.what());
  } catch (...) {
    return fail(TILEWRIGHT_INTERNAL, "an exception of an unknown type");
  }
}

}  // namespace tilewright::api
