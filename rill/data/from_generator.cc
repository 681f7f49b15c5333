#include "rill/data/dataset_impl.h"

namespace rill::data {
namespace {

class GeneratorDataset;

class GeneratorCursor final : public Cursor {
 public:
  explicit GeneratorCursor(const GeneratorDataset& dataset) : dataset_(dataset) {}
  bool next(Nest* element) override;
  void save(StateWriter& out) override {
    out.stage("FlatMapDataset(generator)");
    out.put(yielded_);
  }
  // A generator has no position that could be saved: it is run up to where it was.
  void restore(StateReader& in) override {
    in.stage("FlatMapDataset(generator)");
    const std::int64_t n = in.integer(0, INT64_MAX);
    RILL_CHECK(skip(n) == n, invalid_argument,
               "[Iterator.restore] the generator has ended after {} elements; the state was saved "
               "after {}",
               yielded_, n);
  }

 private:
  const GeneratorDataset& dataset_;
  std::unique_ptr<detail::Run> run_;
  std::int64_t yielded_ = 0;
  bool ended_ = false;
};

class GeneratorDataset final : public DatasetImpl {
 public:
  GeneratorDataset(detail::Generator* generator, const ElementSpec& spec)
      : generator_(generator), given_(spec), specs_(spec.flatten()) {}
  // TensorFlow builds it of a flat_map, and so prints it.
  const char* name() const override { return "FlatMapDataset"; }
  std::int64_t cardinality() const override { return UNKNOWN_CARDINALITY; }
  std::unique_ptr<Cursor> make_cursor(Place) const override {
    return std::make_unique<GeneratorCursor>(*this);
  }
  std::unique_ptr<detail::Run> run() const {
    std::lock_guard lock(mutex_);
    return std::unique_ptr<detail::Run>(generator_->start());
  }
  void check(const Nest& element) const {
    RILL_CHECK(spec_of(element).same_structure(given_), invalid_argument,
               "`generator` yielded an element that did not match the expected structure. The "
               "expected structure was {}, but the yielded element was {}.",
               given_.map([](const TensorSpec& s) { return s.dtype(); }).to_string(),
               element.to_string());
    const std::vector<Tensor> leaves = element.flatten();
    for (std::size_t i = 0; i < leaves.size(); ++i) {
      RILL_CHECK(leaves[i].dtype() == specs_[i].dtype(), invalid_argument,
                 "`generator` yielded an element of type {} where an element of type {} was "
                 "expected.",
                 leaves[i].dtype(), specs_[i].dtype());
      RILL_CHECK(specs_[i].shape().is_compatible_with(leaves[i].shape()), invalid_argument,
                 "`generator` yielded an element of shape {} where an element of shape {} was "
                 "expected.",
                 leaves[i].shape().to_string(), specs_[i].shape().to_string());
    }
  }

 protected:
  ElementSpec make_spec() const override { return given_; }

 private:
  mutable std::mutex mutex_;
  std::unique_ptr<detail::Generator> generator_;
  ElementSpec given_;
  std::vector<TensorSpec> specs_;
};

bool GeneratorCursor::next(Nest* element) {
  if (ended_) return false;  // a callable that has ended is not asked again
  if (!run_) run_ = dataset_.run();
  if (!run_->next(element)) {
    ended_ = true;
    return false;
  }
  ++yielded_;
  dataset_.check(*element);
  return true;
}

}  // namespace

Dataset Dataset::from_generator_(detail::Generator* generator, const ElementSpec& spec) {
  return make_dataset<GeneratorDataset>(generator, spec);
}
ElementSpec Dataset::signature_of(const Types& types, const Shapes& shapes) {
  RILL_CHECK(shapes.is_empty() || types.same_structure(shapes), invalid_argument,
             "[from_generator] output_types {} and output_shapes {} differ in structure",
             types.to_string(), shapes.to_string());
  std::size_t i = 0;
  const std::vector<TensorShape> flat = shapes.flatten();
  return types.map(
      [&](DType d) { return TensorSpec(shapes.is_empty() ? TensorShape() : flat[i++], d); });
}

}  // namespace rill::data
