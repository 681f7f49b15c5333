#include <mutex>

#include "rill/core/default_device.h"
#include "rill/core/trackable.h"
#include "rill/data/dataset_impl.h"

namespace rill::data {

namespace {
constexpr const char* kStateKey = "ITERATOR_STATE";
}

// Also the object that a checkpoint holds.
class IteratorImpl final : public TrackableNode {
 public:
  explicit IteratorImpl(Ref<DatasetImpl> d)
      : dataset(std::move(d)),
        pass(std::make_unique<Pass>()),
        cursor(dataset->start({pass.get()})) {}

  bool next(Nest* element) {
    std::lock_guard lock(mutex);
    return next_locked(element);
  }
  bool peek() {
    std::lock_guard lock(mutex);
    if (!peeked) {
      Nest element;
      if (next_locked(&element)) current = std::move(element), peeked = true;
    }
    return peeked;
  }
  // REQUIRES: the mutex is held.
  bool next_locked(Nest* element) {
    if (peeked) {
      peeked = false;
      *element = std::exchange(current, Nest());
      return true;
    }
    const OnHostByDefault on_host;
    // Once at the end it stays there, even if a stage could be asked again.
    if (!ended && !cursor->next(element)) ended = true;
    return !ended;
  }
  std::string save() {
    std::lock_guard lock(mutex);
    StateWriter out;
    out.put(static_cast<std::int64_t>(ended));
    out.put(static_cast<std::int64_t>(peeked));
    if (peeked) out.put(current);
    pass->save(out);
    cursor->save(out);
    return std::move(out).finish();
  }
  using TrackableNode::restore;
  void restore(std::string_view state) {
    StateReader in(state);
    const bool saved_ended = in.boolean(), saved_peeked = in.boolean();
    Nest saved_current;
    if (saved_peeked) saved_current = in.nest();
    std::unique_ptr<Pass> saved_pass = Pass::restore(in);
    std::unique_ptr<Cursor> saved_cursor = dataset->start({saved_pass.get()});
    saved_cursor->restore(in);
    in.finish();
    std::lock_guard lock(mutex);
    // All of it is good: only now does the iterator change.
    cursor = std::move(saved_cursor);
    pass = std::move(saved_pass);
    current = std::move(saved_current);
    peeked = saved_peeked;
    ended = saved_ended;
    pass->lead();
  }

  std::vector<SavedValue> saved_values() override {
    const Tensor t = make_tensor(string, TensorShape::scalar());
    *mutable_data<std::string>(t) = save();
    return {{kStateKey, t}};
  }
  std::vector<std::string> saved_keys() override { return {kStateKey}; }
  void restore_value(std::string_view, const Tensor& value) override {
    RILL_CHECK(value.dtype() == string && value.size() == 1, invalid_argument,
               "[Iterator] the saved state is {} {}; expected one string", value.dtype(),
               value.shape());
    restore(value.item<std::string>());
  }

  std::mutex mutex;  // copies of an iterator may be used by several threads; guards all below
  Ref<DatasetImpl> dataset;
  std::unique_ptr<Pass> pass;
  std::unique_ptr<Cursor> cursor;  // dies before the pass
  Nest current;
  bool peeked = false, ended = false;
};
void retain(IteratorImpl* i) noexcept { i->refs.retain(); }
void release(IteratorImpl* i) noexcept {
  if (i->refs.release()) delete i;
}

Iterator Dataset::make_iterator() const {
  return Iterator(Ref<IteratorImpl>(new IteratorImpl(impl_)));
}

bool Iterator::next(Nest* element) { return impl_->next(element); }
Nest Optional::get_value() const {
  RILL_CHECK(value_, invalid_argument,
             "[Optional] there is no value: the iterator was at its end. Ask has_value() first");
  return *value_;
}
Optional Iterator::get_next_as_optional() {
  Nest element;
  return next(&element) ? Optional(std::move(element)) : Optional();
}
Nest Iterator::next() {
  Nest element;
  RILL_CHECK(impl_->next(&element), out_of_range, "End of sequence");
  return element;
}
Nest& Iterator::operator*() const {
  RILL_CHECK(impl_->peek(), out_of_range, "End of sequence");
  return impl_->current;
}
Iterator& Iterator::operator++() {
  Nest passed;
  impl_->next(&passed);
  return *this;
}
bool Iterator::at_end() const { return !impl_->peek(); }
const ElementSpec& Iterator::element_spec() const { return impl_->dataset->spec(); }
std::string Iterator::save() const { return impl_->save(); }
void Iterator::restore(std::string_view state) { impl_->restore(state); }

Ref<TrackableNode> Iterator::trackable() const {
  retain(impl_.get());
  return Ref<TrackableNode>(impl_.get());
}

}  // namespace rill::data
