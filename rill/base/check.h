#pragma once
#include "rill/base/error.h"
#include "rill/base/format.h"

// A user's mistake: RILL_CHECK(axis < rank, out_of_range, "[op] ... {} ...", axis)
// throws the error class of that code with the formatted message. The form of a
// message: "[op] what came; what was expected. How to fix it".
#define RILL_CHECK(cond, code_name, ...)                                         \
  do {                                                                           \
    if (!(cond)) [[unlikely]]                                                    \
      ::rill::throw_error(::rill::Code::code_name, ::rill::format(__VA_ARGS__)); \
  } while (false)

#define RILL_FAIL(code_name, ...) \
  ::rill::throw_error(::rill::Code::code_name, ::rill::format(__VA_ARGS__))

// Our own mistake: what no input may trigger.
#define RILL_INTERNAL_CHECK(cond)                                                             \
  do {                                                                                        \
    if (!(cond)) [[unlikely]]                                                                 \
      ::rill::throw_error(::rill::Code::internal,                                             \
                          ::rill::format("internal check failed: {} at {}:{}; please report " \
                                         "this as a bug in Rill",                             \
                                         #cond, __FILE__, __LINE__));                         \
  } while (false)
