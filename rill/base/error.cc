#include "rill/base/error.h"

#include <utility>

namespace rill {
namespace errors {

Error::Error(std::string message, rill::Code code) : message_(std::move(message)), code_(code) {}
Error::~Error() = default;
const char* Error::what() const noexcept { return message_.c_str(); }
void Error::add_context(const std::string& context) { message_ += "\n  " + context; }

Cancelled::~Cancelled() = default;
Unknown::~Unknown() = default;
InvalidArgument::~InvalidArgument() = default;
DeadlineExceeded::~DeadlineExceeded() = default;
NotFound::~NotFound() = default;
AlreadyExists::~AlreadyExists() = default;
PermissionDenied::~PermissionDenied() = default;
ResourceExhausted::~ResourceExhausted() = default;
FailedPrecondition::~FailedPrecondition() = default;
Aborted::~Aborted() = default;
OutOfRange::~OutOfRange() = default;
Unimplemented::~Unimplemented() = default;
Internal::~Internal() = default;
Unavailable::~Unavailable() = default;
DataLoss::~DataLoss() = default;
Unauthenticated::~Unauthenticated() = default;

}  // namespace errors

void throw_error(Code code, std::string message) {
  switch (code) {
    case Code::cancelled:
      throw errors::Cancelled(std::move(message));
    case Code::invalid_argument:
      throw errors::InvalidArgument(std::move(message));
    case Code::deadline_exceeded:
      throw errors::DeadlineExceeded(std::move(message));
    case Code::not_found:
      throw errors::NotFound(std::move(message));
    case Code::already_exists:
      throw errors::AlreadyExists(std::move(message));
    case Code::permission_denied:
      throw errors::PermissionDenied(std::move(message));
    case Code::resource_exhausted:
      throw errors::ResourceExhausted(std::move(message));
    case Code::failed_precondition:
      throw errors::FailedPrecondition(std::move(message));
    case Code::aborted:
      throw errors::Aborted(std::move(message));
    case Code::out_of_range:
      throw errors::OutOfRange(std::move(message));
    case Code::unimplemented:
      throw errors::Unimplemented(std::move(message));
    case Code::internal:
      throw errors::Internal(std::move(message));
    case Code::unavailable:
      throw errors::Unavailable(std::move(message));
    case Code::data_loss:
      throw errors::DataLoss(std::move(message));
    case Code::unauthenticated:
      throw errors::Unauthenticated(std::move(message));
    case Code::ok:
    case Code::unknown:
      break;
  }
  throw errors::Unknown(std::move(message));
}

}  // namespace rill
