#include <deque>

#include "rill/data/dataset_resource_impl.h"
#include "rill/data/worker_impl.h"

namespace rill::data {
namespace {

// Elements that are already there: what a window is.
class ListCursor final : public Cursor {
 public:
  explicit ListCursor(const std::vector<Nest>& elements) : elements_(elements) {}
  bool next(Nest* element) override {
    if (at_ == static_cast<std::int64_t>(elements_.size())) return false;
    *element = elements_[static_cast<std::size_t>(at_++)];
    return true;
  }
  void save(StateWriter& out) override {
    out.stage("_VariantDataset");
    out.put(at_);
  }
  void restore(StateReader& in) override {
    in.stage("_VariantDataset");
    at_ = in.integer(0, static_cast<std::int64_t>(elements_.size()));
  }

 private:
  const std::vector<Nest>& elements_;
  std::int64_t at_ = 0;
};
class ListDataset final : public DatasetImpl {
 public:
  ListDataset(std::vector<Nest> elements, const Ref<DatasetImpl>& like, std::size_t component)
      : elements_(std::move(elements)), like_(like), component_(component) {}
  const std::vector<Nest>& elements() const { return elements_; }
  const char* name() const override { return "_VariantDataset"; }
  std::int64_t cardinality() const override { return static_cast<std::int64_t>(elements_.size()); }
  std::unique_ptr<Cursor> make_cursor(Place) const override {
    return std::make_unique<ListCursor>(elements_);
  }

 protected:
  ElementSpec make_spec() const override {
    if (like_) return ElementSpec(like_->spec().flatten()[component_]);
    return elements_.empty() ? ElementSpec() : spec_of(elements_[0]);
  }

 private:
  std::vector<Nest> elements_;
  Ref<DatasetImpl> like_;  // may be null
  std::size_t component_;
};

// The structure of the elements over datasets, each of one component.
Nest window_of(const Nest& structure, const std::vector<Nest>& elements,
               const Ref<DatasetImpl>& dataset) {
  std::vector<std::vector<Nest>> columns(structure.flatten().size());
  for (const Nest& element : elements) {
    std::size_t c = 0;
    for (const Tensor& leaf : element.flatten()) columns[c++].emplace_back(leaf);
  }
  std::vector<Tensor> leaves;
  for (std::size_t c = 0; c < columns.size(); ++c)
    leaves.push_back(list_as_nest(std::move(columns[c]), dataset, c).as_tensor());
  return structure.with_leaves(leaves);
}

class WindowCursor final : public UnaryCursor {
 public:
  WindowCursor(std::unique_ptr<Cursor> input, std::int64_t size, const WindowOptions& o,
               const Ref<DatasetImpl>& dataset)
      : UnaryCursor(std::move(input)), size_(size), o_(o), dataset_(dataset) {}
  bool next(Nest* element) override {
    const std::int64_t span = (size_ - 1) * o_.stride + 1;
    // An error belongs to the windows that its element is in; one in between is nobody's.
    const auto produce = [&] {
      Produced p = Produced::of([&](Nest* e) { return input_->next(e); });
      ended_ = p.at_end();
      return p;
    };
    for (; gap_ > 0 && !ended_; --gap_) produce();
    while (!ended_ && static_cast<std::int64_t>(buffer_.size()) < span)
      if (Produced p = produce(); !ended_) buffer_.push_back(std::move(p));
    const auto have = static_cast<std::int64_t>(buffer_.size());
    if (have == 0 || (have < span && o_.drop_remainder)) return false;
    const Produced window = Produced::of([&](Nest* e) {
      std::vector<Nest> elements;
      for (std::int64_t i = 0; i < have; i += o_.stride)
        elements.push_back(buffer_[static_cast<std::size_t>(i)].element());
      *e = window_of(elements[0], elements, dataset_);
      return true;
    });
    const std::int64_t drop = std::min(o_.shift, have);
    buffer_.erase(buffer_.begin(), buffer_.begin() + drop);
    gap_ = o_.shift - drop;
    *element = window.element();
    return true;
  }
  void save(StateWriter& out) override {
    out.stage("WindowDataset", settings());
    out.put(static_cast<std::int64_t>(ended_));
    out.put(gap_);
    out.put(static_cast<std::int64_t>(buffer_.size()));
    for (const Produced& p : buffer_) p.save(out);
    input_->save(out);
  }
  void restore(StateReader& in) override {
    in.stage("WindowDataset", settings());
    ended_ = in.boolean();
    gap_ = in.integer(0, o_.shift);
    buffer_.clear();
    for (std::int64_t n = in.integer(0, 1 << 30); n > 0; --n)
      buffer_.push_back(Produced::restore(in));
    input_->restore(in);
  }

 private:
  Settings settings() const {
    return {{"size", size_},
            {"shift", o_.shift},
            {"stride", o_.stride},
            {"drop_remainder", o_.drop_remainder}};
  }
  std::int64_t size_;
  WindowOptions o_;
  Ref<DatasetImpl> dataset_;  // that the elements are of
  std::deque<Produced> buffer_;
  std::int64_t gap_ = 0;  // elements between two windows, not yet passed over
  bool ended_ = false;
};

class WindowDataset final : public UnaryDataset {
 public:
  WindowDataset(const Dataset& input, std::int64_t size, const WindowOptions& o)
      : UnaryDataset(input), size_(size), o_(o) {}
  const char* name() const override { return "WindowDataset"; }
  Facts facts() const override {
    return {{"size", size_},
            {"shift", o_.shift},
            {"stride", o_.stride},
            {"drop_remainder", o_.drop_remainder}};
  }
  std::int64_t cardinality() const override {
    const std::int64_t n = input().cardinality(), span = (size_ - 1) * o_.stride + 1;
    if (n < 0) return n;
    if (o_.drop_remainder) return n < span ? 0 : (n - span) / o_.shift + 1;
    return n / o_.shift + (n % o_.shift != 0);
  }
  std::unique_ptr<Cursor> make_cursor(Place place) const override {
    return std::make_unique<WindowCursor>(input().start(place), size_, o_, input_ref());
  }
  Nest specimen() const override { return window_of(input().specimen(), {}, input_ref()); }

 protected:
  ElementSpec make_spec() const override {
    return input().spec().map(
        [](const TensorSpec&) { return TensorSpec(TensorShape::scalar(), variant); });
  }

 private:
  std::int64_t size_;
  WindowOptions o_;
};

}  // namespace

Nest list_as_nest(std::vector<Nest> elements, const Ref<DatasetImpl>& like, std::size_t component) {
  return detail::dataset_as_nest(make_dataset<ListDataset>(std::move(elements), like, component));
}
const std::vector<Nest>* listed_elements(const Tensor& t) {
  const auto* r = dynamic_cast<const DatasetResource*>(t.impl()->resource.get());
  const auto* list = r ? dynamic_cast<const ListDataset*>(&r->dataset.impl()) : nullptr;
  return list ? &list->elements() : nullptr;
}

Dataset Dataset::window(const Size& given, WindowOptions o) const {
  if (given.is_symbolic())
    return sized_recipe(*this, given, like_of(*this).window(1, o),
                        [o](const Dataset& d, std::int64_t n) { return d.window(n, o); });
  const std::int64_t size = given;
  if (o.shift == 0) o.shift = size;
  RILL_CHECK(size > 0 && o.shift > 0 && o.stride > 0, invalid_argument,
             "[window] size {}, shift {}, stride {}; expected numbers greater than zero", size,
             o.shift, o.stride);
  return make_dataset<WindowDataset>(*this, size, o);
}

}  // namespace rill::data
