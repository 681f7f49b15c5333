#include "rill/data/worker_impl.h"

namespace rill::data {

bool Produced::take(Nest* element) {
  if (error_) std::rethrow_exception(std::exchange(error_, nullptr));
  if (there_) *element = std::move(element_);
  return there_;
}

void Produced::save(StateWriter& out) const {
  std::string message;
  Code code = Code::ok;
  if (error_) {
    try {
      std::rethrow_exception(error_);
    } catch (const errors::Error& e) {
      code = e.code(), message = e.message();
    } catch (const std::exception& e) {
      code = Code::unknown, message = e.what();
    } catch (...) {
      code = Code::unknown, message = "an exception that is not a std::exception";
    }
  }
  out.put(static_cast<std::int64_t>(code));
  if (error_)
    out.put(std::string_view(message));
  else
    out.put(element_);
}
Produced Produced::restore(StateReader& in) {
  const auto code =
      static_cast<Code>(in.integer(0, static_cast<std::int64_t>(Code::unauthenticated)));
  if (code == Code::ok) {
    Nest element = in.nest();
    return of([&](Nest* e) { return *e = std::move(element), true; });
  }
  std::string message(in.text());
  return of([&](Nest*) -> bool { throw_error(code, std::move(message)); });
}

}  // namespace rill::data
