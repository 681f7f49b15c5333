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
  std::unique_ptr<Cursor> start(Place) const override {
    RILL_FAIL(failed_precondition,
              "[dataset] its tensors have no values while the function that makes it is looked at");
  }

 protected:
  ElementSpec make_spec() const override { return spec_of_elements_; }

 private:
  ElementSpec spec_of_elements_;
};

Nest zeros_of(const ElementSpec& spec) {
  return nest_like(spec, [](const TensorSpec& leaf) -> Nest {
    if (leaf.dtype() == variant) return list_as_nest({});
    Dims dims;
    for (int i = 0; leaf.shape().has_rank() && i < leaf.shape().rank(); ++i)
      dims.push_back(std::max<std::int64_t>(leaf.shape().dim(i), 1));
    const Tensor t = make_tensor(leaf.dtype(), TensorShape(dims));
    if (t.dtype() != string && t.size())
      std::memset(t.impl()->data, 0, static_cast<std::size_t>(t.size()) * t.dtype().itemsize());
    return t;
  });
}

}  // namespace

Dataset dataset_of_spec(const ElementSpec& spec) { return make_dataset<SpecimenDataset>(spec); }
Nest DatasetImpl::specimen() const { return zeros_of(spec()); }

}  // namespace rill::data
