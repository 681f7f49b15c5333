#include "rill/data/dataset_impl.h"

namespace rill::data {
namespace {

class TensorCursor final : public Cursor {
 public:
  explicit TensorCursor(const Nest& element) : element_(element) {}
  bool next(Nest* element) override {
    if (done_) return false;
    done_ = true;
    *element = element_;
    return true;
  }
  void save(StateWriter& out) override {
    out.stage("TensorDataset");
    out.put(static_cast<std::int64_t>(done_));
  }
  void restore(StateReader& in) override {
    in.stage("TensorDataset");
    done_ = in.boolean();
  }

 private:
  const Nest& element_;
  bool done_ = false;
};

class TensorDataset final : public DatasetImpl {
 public:
  explicit TensorDataset(const Nest& element) : element_(element) {}
  const char* name() const override { return "TensorDataset"; }
  std::int64_t cardinality() const override { return 1; }
  std::unique_ptr<Cursor> make_cursor(Place) const override {
    return std::make_unique<TensorCursor>(element_);
  }

 protected:
  ElementSpec make_spec() const override { return spec_of(element_); }

 private:
  Nest element_;
};

}  // namespace

Dataset Dataset::from_tensors(const Nest& tensors) {
  if (is_symbolic(tensors)) {
    const Nest kept = without_graph(tensors);
    return make_recipe(dataset_of_spec(spec_of(tensors)), {}, kept.flatten(),
                       [kept](const Bindings& b) { return from_tensors(b.of(kept)); });
  }
  for (const Tensor& t : tensors.flatten())
    RILL_CHECK(t.defined(), invalid_argument,
               "[from_tensors] got {}; expected tensors with values, not undefined ones",
               tensors.to_string());
  return make_dataset<TensorDataset>(tensors);
}

}  // namespace rill::data
