// The C functions of tilewright/program.h.
#include "tilewright/program.h"

#include <algorithm>
#include <exception>

#include "compiler/dsl/Operations.h"

using namespace tilewright;

namespace {

/// Runs `body`; what it throws becomes a status, its words the program's message.
template <class Body>
tilewright_status guarded(std::string& message, Body&& body) noexcept {
  try {
    body();
    return TILEWRIGHT_OK;
  } catch (const CompileError& error) {
    message = error.what();
    return TILEWRIGHT_COMPILE_FAILED;
  } catch (const dsl::Malformed& error) {
    message = error.what();
    return TILEWRIGHT_INVALID_ARGUMENT;
  } catch (const Error& error) {
    message = error.what();
    return TILEWRIGHT_UNSUPPORTED;
  } catch (const std::exception& error) {
    message = error.what();
    return TILEWRIGHT_INTERNAL;
  } catch (...) {
    return TILEWRIGHT_INTERNAL;
  }
}

bool complete(const tilewright_operation& o) {
  return o.size >= sizeof o && o.name != nullptr && o.file != nullptr && (o.values != nullptr || o.value_count == 0) &&
         (o.integers != nullptr || o.integer_count == 0) && (o.texts != nullptr || o.text_count == 0) &&
         (o.results != nullptr || o.result_count == 0) &&
         std::none_of(o.texts, o.texts + o.text_count, [](const char* text) { return text == nullptr; });
}

}  // namespace

tilewright_status tilewright_program_create(const char* name, const char* file, uint32_t line, uint32_t column,
                                            tilewright_program** out) {
  if (name == nullptr || file == nullptr || out == nullptr) return TILEWRIGHT_INVALID_ARGUMENT;
  *out = nullptr;
  std::string lost;
  return guarded(lost, [&] { *out = new tilewright_program(name, file, line, column); });
}

tilewright_status tilewright_program_record(tilewright_program* program, const tilewright_operation* operation) {
  if (program == nullptr) return TILEWRIGHT_INVALID_ARGUMENT;
  if (operation == nullptr || !complete(*operation)) {
    program->message = operation == nullptr ? "operation is NULL"
                                            : "operation: size is " + std::to_string(operation->size) + ", expected at least " +
                                                  std::to_string(sizeof *operation) +
                                                  "; name, file, every text and every list with a count are not NULL";
    return TILEWRIGHT_INVALID_ARGUMENT;
  }
  return guarded(program->message, [&] { dsl::record(program->recording, *operation); });
}

const char* tilewright_program_message(const tilewright_program* program) {
  return program == nullptr ? "" : program->message.c_str();
}

void tilewright_program_destroy(tilewright_program* program) { delete program; }
