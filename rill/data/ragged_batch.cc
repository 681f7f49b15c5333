// Batches whose rows differ in length.
#include "rill/data/composite_rows_impl.h"
#include "rill/data/dataset_impl.h"

namespace rill::data {
namespace {

// How many ragged axes the rows of this component have besides the first; -1: it stays a tensor,
// as its sizes are known.
int ragged_axes(const TensorSpec& spec) {
  const TensorShape& s = spec.shape();
  RILL_CHECK(s.has_rank(), invalid_argument,
             "[ragged_batch] a component is of unknown rank; use set_shape() or ensure_shape() in "
             "map()");
  int last = -1;
  for (int i = 0; i < s.rank(); ++i)
    if (s.dim(i) < 0) last = i;
  return last;
}

// The tensor as a row of a ragged one: its first axes are rows of rows.
Nest as_ragged_row(const Tensor& given, int axes) {
  const Tensor t = to_host(given);
  Dims flat;
  std::int64_t rows = 1;
  std::vector<Nest> parts{Nest()};
  for (int axis = 0; axis <= axes; ++axis) {
    const std::int64_t length = t.shape().dim(axis);
    if (axis > 0) {
      const Tensor splits = make_tensor(int64, TensorShape(Dims{rows + 1}));
      for (std::int64_t i = 0; i <= rows; ++i) mutable_data<std::int64_t>(splits)[i] = i * length;
      parts.emplace_back(splits);
    }
    rows *= length;
  }
  flat.push_back(rows);
  for (int axis = axes + 1; axis < t.ndim(); ++axis) flat.push_back(t.shape().dim(axis));
  parts[0] = Nest(make_view(t, TensorShape(flat)));
  return Nest::composite("ragged", std::move(parts));
}

Nest with_ragged_rows(const Nest& element, const ElementSpec& spec) {
  if (element.is_composite()) return element;
  if (element.is_tensor()) {
    const int axes = ragged_axes(spec.leaf());
    return axes < 0 ? element : as_ragged_row(element.as_tensor(), axes);
  }
  std::vector<Nest> items;
  for (std::size_t i = 0; i < element.size(); ++i)
    items.push_back(with_ragged_rows(element.part(i), spec[static_cast<int>(i)]));
  return element.with_items(std::move(items));
}

class RaggedRowsCursor final : public UnaryCursor {
 public:
  RaggedRowsCursor(std::unique_ptr<Cursor> input, ElementSpec spec)
      : UnaryCursor(std::move(input)), spec_(std::move(spec)) {}
  bool next(Nest* element) override {
    if (!input_->next(element)) return false;
    *element = with_ragged_rows(*element, spec_);
    return true;
  }
  void save(StateWriter& out) override {
    out.stage("RaggedRowsDataset");
    input_->save(out);
  }
  void restore(StateReader& in) override {
    in.stage("RaggedRowsDataset");
    input_->restore(in);
  }

 private:
  ElementSpec spec_;
};

class RaggedRowsDataset final : public UnaryDataset {
 public:
  using UnaryDataset::UnaryDataset;
  const char* name() const override { return "RaggedRowsDataset"; }
  std::unique_ptr<Cursor> make_cursor(Place place) const override {
    return std::make_unique<RaggedRowsCursor>(input().start(place), input().spec());
  }

 protected:
  ElementSpec make_spec() const override {
    return map_components(input().spec(), [](const ElementSpec& s) -> ElementSpec {
      if (s.is_composite()) return s;
      const int axes = ragged_axes(s.leaf());
      if (axes < 0) return s;
      TensorShape element = s.leaf().shape();
      for (int i = 0; i <= axes; ++i) element = row_shape(element);
      std::vector<ElementSpec> parts{TensorSpec(with_rows(element, -1), s.leaf().dtype())};
      for (int i = 0; i < axes; ++i) parts.emplace_back(TensorSpec(TensorShape(Dims{-1}), int64));
      return ElementSpec::composite("ragged", std::move(parts));
    });
  }
};

}  // namespace

Dataset Dataset::ragged_batch(std::int64_t batch_size, BatchOptions options) const {
  return make_dataset<RaggedRowsDataset>(*this).batch(batch_size, std::move(options));
}

}  // namespace rill::data
