#pragma once
#include <exception>

#include "rill/data/dataset_impl.h"

namespace rill::data {

// What asking for an element gave: the element, the end, or an error that is
// thrown where the element is wanted.
class Produced {
 public:
  template <class F>
  static Produced of(F next) {
    Produced p;
    try {
      p.there_ = next(&p.element_);
    } catch (...) {
      p.error_ = std::current_exception();
    }
    return p;
  }
  bool at_end() const { return !there_ && !error_; }
  bool failed() const { return static_cast<bool>(error_); }
  std::int64_t bytes() const { return there_ ? bytes_of(element_) : 0; }
  const Nest& element() const {  // throws the error, every time
    if (error_) std::rethrow_exception(error_);
    return element_;
  }
  // As next() of a cursor.
  bool take(Nest* element);
  void save(StateWriter& out) const;
  static Produced restore(StateReader& in);

 private:
  Nest element_;
  bool there_ = false;
  std::exception_ptr error_;
};

}  // namespace rill::data
