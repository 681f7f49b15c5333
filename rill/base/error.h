#pragma once
#include <exception>
#include <string>

#include "rill/base/api.h"

namespace rill RILL_API {

// The canonical codes, as in TensorFlow's error module.
enum class Code : unsigned char {
  ok,
  cancelled,
  unknown,
  invalid_argument,
  deadline_exceeded,
  not_found,
  already_exists,
  permission_denied,
  resource_exhausted,
  failed_precondition,
  aborted,
  out_of_range,
  unimplemented,
  internal,
  unavailable,
  data_loss,
  unauthenticated
};

namespace errors {

// Base of all that Rill throws. The message says what came, what was expected
// and how to fix it; context ("while tracing function \"step\"") is added as
// the error passes outwards.
class Error : public std::exception {
 public:
  explicit Error(std::string message, rill::Code code = rill::Code::unknown);
  ~Error() override;
  const char* what() const noexcept override;
  const std::string& message() const noexcept { return message_; }
  rill::Code code() const noexcept { return code_; }
  void add_context(const std::string& context);

 private:
  std::string message_;
  rill::Code code_;
};

// One class a code, so that each can be caught by itself. The destructor is
// the key function: one typeinfo, caught across libraries.
#define RILL_ERROR_CLASS(Name, kCode)                                              \
  class Name : public Error {                                                      \
   public:                                                                         \
    explicit Name(std::string message) : Error(std::move(message), Code::kCode) {} \
    ~Name() override;                                                              \
  };                                                                               \
  using Name##Error = Name
RILL_ERROR_CLASS(Cancelled, cancelled);
RILL_ERROR_CLASS(Unknown, unknown);
RILL_ERROR_CLASS(InvalidArgument, invalid_argument);
RILL_ERROR_CLASS(DeadlineExceeded, deadline_exceeded);
RILL_ERROR_CLASS(NotFound, not_found);
RILL_ERROR_CLASS(AlreadyExists, already_exists);
RILL_ERROR_CLASS(PermissionDenied, permission_denied);
RILL_ERROR_CLASS(ResourceExhausted, resource_exhausted);
RILL_ERROR_CLASS(FailedPrecondition, failed_precondition);
RILL_ERROR_CLASS(Aborted, aborted);
RILL_ERROR_CLASS(OutOfRange, out_of_range);
RILL_ERROR_CLASS(Unimplemented, unimplemented);
RILL_ERROR_CLASS(Internal, internal);
RILL_ERROR_CLASS(Unavailable, unavailable);
RILL_ERROR_CLASS(DataLoss, data_loss);
RILL_ERROR_CLASS(Unauthenticated, unauthenticated);
#undef RILL_ERROR_CLASS

}  // namespace errors

// Throws the class that belongs to `code`.
[[noreturn]] void throw_error(Code code, std::string message);

}  // namespace RILL_API
