#include "rill/data/dataset_impl.h"

namespace rill::data {
namespace {

class ConcatenateCursor final : public Cursor {
 public:
  ConcatenateCursor(std::unique_ptr<Cursor> first, std::unique_ptr<Cursor> second)
      : inputs_{std::move(first), std::move(second)} {}
  bool next(Nest* element) override {
    if (at_ == 0) {
      if (inputs_[0]->next(element)) {
        form_ = form_of(*element);
        return true;
      }
      at_ = 1;
    }
    if (!inputs_[1]->next(element)) return false;
    if (!form_.empty()) {
      const std::string form = form_of(*element);
      RILL_CHECK(form == form_, invalid_argument,
                 "[concatenate] elements of the first dataset are {}, of the second {}; expected "
                 "the same structure and dtypes",
                 form_, form);
      form_.clear();  // the first tells enough
    }
    return true;
  }
  void save(StateWriter& out) override {
    out.stage("ConcatenateDataset");
    out.put(at_);
    inputs_[0]->save(out);
    inputs_[1]->save(out);
  }
  void restore(StateReader& in) override {
    in.stage("ConcatenateDataset");
    at_ = in.integer(0, 1);
    inputs_[0]->restore(in);
    inputs_[1]->restore(in);
  }

 private:
  static std::string form_of(const Nest& n) {
    return spec_of(n).map([](const TensorSpec& s) { return s.dtype(); }).to_string();
  }
  std::unique_ptr<Cursor> inputs_[2];
  std::int64_t at_ = 0;
  std::string form_;  // of the first dataset's elements
};

class ConcatenateDataset final : public DatasetImpl {
 public:
  ConcatenateDataset(const Dataset& first, const Dataset& second)
      : first_(first), second_(second) {}
  const char* name() const override { return "ConcatenateDataset"; }
  std::int64_t cardinality() const override {
    const std::int64_t a = first_.cardinality(), b = second_.cardinality();
    if (a == INFINITE_CARDINALITY || b == INFINITE_CARDINALITY) return INFINITE_CARDINALITY;
    if (a == UNKNOWN_CARDINALITY || b == UNKNOWN_CARDINALITY) return UNKNOWN_CARDINALITY;
    return a + b;
  }
  std::unique_ptr<Cursor> start(Place place) const override {
    return std::make_unique<ConcatenateCursor>(first_.impl().start(place),
                                               second_.impl().start(place.branch(1)));
  }

 protected:
  ElementSpec make_spec() const override {
    const ElementSpec &a = first_.element_spec(), &b = second_.element_spec();
    RILL_CHECK(a.same_structure(b) &&
                   first_.output_types().to_string() == second_.output_types().to_string(),
               invalid_argument,
               "[concatenate] elements of the first dataset are {}, of the second {}; expected the "
               "same structure and dtypes",
               first_.output_types().to_string(), second_.output_types().to_string());
    const std::vector<TensorSpec> others = b.flatten();
    std::size_t i = 0;
    return a.map([&](const TensorSpec& s) {
      return TensorSpec(common_shape(s.shape(), others[i++].shape()), s.dtype());
    });
  }

 private:
  Dataset first_, second_;
};

}  // namespace

Dataset Dataset::concatenate(const Dataset& other) const {
  Dataset both = make_dataset<ConcatenateDataset>(*this, other);
  static_cast<void>(both.element_spec());  // says now that they do not fit
  return both;
}

}  // namespace rill::data
