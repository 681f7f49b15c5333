#pragma once
#include <memory>

namespace rill::cpu {

// The filter of a convolution in the layout that its primitive likes, for callers that know
// that the filter does not change: the first convolution in a scope fills it, later ones read
// it. It is filled by one thread; then any number may read.
struct PackedFilter {
  // What the library behind convolutions made of the filter; null: nothing yet, or the filter
  // is liked as it is. REQUIRES: whoever holds this holds the elements of the filter, too,
  // for convolutions of other geometries share it.
  std::shared_ptr<const void> contents;

  // What convolutions of this thread use for the time of its life; null: none.
  class Scope {
   public:
    explicit Scope(PackedFilter* filter) : before_(current) { current = filter; }
    ~Scope() { current = before_; }
    Scope(const Scope&) = delete;

   private:
    PackedFilter* before_;
  };
  static PackedFilter* of_thread() { return current; }

 private:
  static thread_local PackedFilter* current;
};

}  // namespace rill::cpu
