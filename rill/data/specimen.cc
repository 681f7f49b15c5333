// Datasets and elements of a known form, for looking at users' functions without any data.
#include <cstring>

#include "rill/data/dataset_impl.h"

namespace rill::data {
namespace {

class SpecimenDataset final : public DatasetImpl {
 public:
  explicit SpecimenDataset(const ElementSpec& spec) : spec_of_elements_(spec) {}
  const char* name() const override { return "SpecimenDataset"; }
  std::int64_t cardinality() const override { return UNKNOWN_CARDINALITY; }
  std::unique_ptr<Cursor> make_cursor(Place) const override {
    RILL_FAIL(failed_precondition,
              "[dataset] its tensors have no values while the function that makes it is looked at");
  }

 protected:
  ElementSpec make_spec() const override { return spec_of_elements_; }

 private:
  ElementSpec spec_of_elements_;
};

// Splits of zeros say that there are no values: all shall be in the first row.
Nest with_first_row(const Nest& n) {
  if (n.is_tensor()) return n;
  std::vector<Nest> items;
  for (std::size_t i = 0; i < n.size(); ++i) items.push_back(with_first_row(n.part(i)));
  if (n.composite_kind() == "ragged")
    for (std::size_t i = 1; i < items.size(); ++i) {
      const std::int64_t rows = std::max<std::int64_t>(n.part(i).shape().dim(0) - 1, 1);
      const std::int64_t values = i + 1 < items.size()
                                      ? std::max<std::int64_t>(n.part(i + 1).shape().dim(0) - 1, 1)
                                      : n.part(0).shape().dim(0);
      const Tensor splits = make_tensor(n.part(i).dtype(), TensorShape(Dims{rows + 1}));
      for (std::int64_t k = 0; k <= rows; ++k) {
        if (splits.dtype() == int32)
          mutable_data<std::int32_t>(splits)[k] = static_cast<std::int32_t>(k ? values : 0);
        else
          mutable_data<std::int64_t>(splits)[k] = k ? values : 0;
      }
      items[i] = Nest(splits);
    }
  return n.with_items(std::move(items));
}

Nest zeros_of(const ElementSpec& spec) {
  return with_first_row(nest_like(spec, [](const TensorSpec& leaf) -> Nest {
    if (leaf.dtype() == variant) return list_as_nest({});
    Dims dims;
    for (int i = 0; leaf.shape().has_rank() && i < leaf.shape().rank(); ++i)
      dims.push_back(std::max<std::int64_t>(leaf.shape().dim(i), 1));
    const Tensor t = make_tensor(leaf.dtype(), TensorShape(dims));
    if (t.dtype() != string && t.size())
      std::memset(t.impl()->data, 0, static_cast<std::size_t>(t.size()) * t.dtype().itemsize());
    return t;
  }));
}

}  // namespace

Dataset dataset_of_spec(const ElementSpec& spec) { return make_dataset<SpecimenDataset>(spec); }
Nest DatasetImpl::specimen() const { return zeros_of(spec()); }

}  // namespace rill::data
