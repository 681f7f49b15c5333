#include "rill/data/dataset_impl.h"

namespace rill::data {
namespace {

struct Padding {
  std::vector<TensorShape> shapes;  // empty: as large as need be
  std::vector<Tensor> values;       // empty: zeros
};

class PaddedBatchCursor final : public UnaryCursor {
 public:
  PaddedBatchCursor(std::unique_ptr<Cursor> input, std::int64_t size, bool drop_remainder,
                    const Padding& padding)
      : UnaryCursor(std::move(input)),
        size_(size),
        drop_remainder_(drop_remainder),
        padding_(padding) {}
  bool next(Nest* element) override {
    std::vector<Nest> elements;
    Nest one;
    while (static_cast<std::int64_t>(elements.size()) < size_ && input_->next(&one))
      elements.push_back(std::move(one)), one = Nest();
    const auto n = static_cast<std::int64_t>(elements.size());
    if (n == 0 || (n < size_ && drop_remainder_)) return false;
    if (values_.empty() && !padding_.values.empty()) values_ = values_for(elements[0].flatten());
    *element = stack_padded(elements, padding_.shapes, values_, "padded_batch");
    return true;
  }
  void save(StateWriter& out) override {
    out.stage("PaddedBatchDataset", settings());
    input_->save(out);
  }
  void restore(StateReader& in) override {
    in.stage("PaddedBatchDataset", settings());
    input_->restore(in);
  }

 private:
  Settings settings() const { return {{"batch_size", size_}, {"drop_remainder", drop_remainder_}}; }
  // One a component, in host memory; where none is given zeros are written.
  std::vector<Tensor> values_for(const std::vector<Tensor>& components) const {
    std::vector<Tensor> out;
    RILL_CHECK(padding_.values.size() == 1 || padding_.values.size() == components.size(),
               invalid_argument, "[padded_batch] {} padding values for {} components",
               padding_.values.size(), components.size());
    for (std::size_t c = 0; c < components.size(); ++c) {
      const Tensor& given = padding_.values[padding_.values.size() == 1 ? 0 : c];
      out.push_back(given.defined() ? to_host(given) : given);
      if (!given.defined()) continue;
      RILL_CHECK(given.ndim() == 0 && given.dtype() == components[c].dtype(), invalid_argument,
                 "[padded_batch] the padding value of component {} is {} {}; expected a scalar of "
                 "the component's dtype {}. Cast it",
                 c, given.dtype(), given.shape(), components[c].dtype());
    }
    return out;
  }

  std::int64_t size_;
  bool drop_remainder_;
  const Padding& padding_;
  std::vector<Tensor> values_;
};

class PaddedBatchDataset final : public UnaryDataset {
 public:
  PaddedBatchDataset(const Dataset& input, std::int64_t size, const Shapes& shapes,
                     const PaddedBatchOptions& options)
      : UnaryDataset(input),
        size_(size),
        drop_remainder_(options.drop_remainder),
        padding_{shapes.flatten(), options.padding_values.tensors()} {}
  const char* name() const override { return "PaddedBatchDataset"; }
  Facts facts() const override {
    return {{"batch_size", size_}, {"drop_remainder", drop_remainder_}};
  }
  std::int64_t cardinality() const override {
    const std::int64_t n = input().cardinality();
    return n < 0 ? n : n / size_ + (n % size_ != 0 && !drop_remainder_);
  }
  std::unique_ptr<Cursor> make_cursor(Place place) const override {
    return std::make_unique<PaddedBatchCursor>(input().start(place), size_, drop_remainder_,
                                               padding_);
  }

 protected:
  ElementSpec make_spec() const override {
    std::size_t i = 0;
    return input().spec().map([&](const TensorSpec& s) {
      const bool given = i < padding_.shapes.size() && padding_.shapes[i].has_rank();
      const TensorShape row = given ? padding_.shapes[i] : s.shape();
      for (int d = 0; given && s.shape().has_rank() && d < s.shape().rank(); ++d)
        RILL_CHECK(
            row.rank() == s.shape().rank() && (row.dim(d) < 0 || s.shape().dim(d) <= row.dim(d)),
            invalid_argument,
            "[padded_batch] component {} has shape {}, which does not fit into the padded "
            "shape {}",
            i, s.shape(), row);
      ++i;
      return TensorSpec(with_rows(row, drop_remainder_ ? size_ : -1), s.dtype());
    });
  }

 private:
  std::int64_t size_;
  bool drop_remainder_;
  Padding padding_;
};

}  // namespace

Dataset Dataset::padded_batch(const Size& size, const Shapes& padded_shapes,
                              PaddedBatchOptions options) const {
  if (size.is_symbolic()) {
    PaddedBatchOptions open = options;
    open.drop_remainder = false;
    return sized_recipe(*this, size, like_of(*this).padded_batch(1, padded_shapes, open),
                        [padded_shapes, options](const Dataset& d, std::int64_t n) {
                          return d.padded_batch(n, padded_shapes, options);
                        });
  }
  const std::int64_t batch_size = size;
  RILL_CHECK(batch_size > 0, invalid_argument,
             "[padded_batch] batch_size is {}; expected a number greater than zero", batch_size);
  return make_dataset<PaddedBatchDataset>(*this, batch_size, padded_shapes, options);
}

}  // namespace rill::data
