#include "rill/data/dataset.h"

#include <ostream>

#include "rill/data/dataset_impl.h"

namespace rill::data {

void retain(DatasetImpl* d) noexcept { d->refs.retain(); }
void release(DatasetImpl* d) noexcept {
  if (d->refs.release()) delete d;
}
const ElementSpec& DatasetImpl::spec() const {
  std::call_once(spec_once_, [&] { spec_ = make_spec(); });
  return spec_;
}

std::int64_t Dataset::cardinality() const { return impl_->cardinality(); }
std::int64_t Dataset::size() const {
  const std::int64_t n = cardinality();
  RILL_CHECK(n != INFINITE_CARDINALITY, invalid_argument,
             "[Dataset.size] the dataset is infinite; take() a number of elements of it");
  RILL_CHECK(n != UNKNOWN_CARDINALITY, invalid_argument,
             "[Dataset.size] the number of elements is not known before they are counted: {}",
             to_string());
  return n;
}
const ElementSpec& Dataset::element_spec() const { return impl_->spec(); }
Types Dataset::output_types() const {
  return element_spec().map([](const TensorSpec& s) { return s.dtype(); });
}
Shapes Dataset::output_shapes() const {
  return element_spec().map([](const TensorSpec& s) { return s.shape(); });
}
std::string Dataset::to_string() const {
  return format("<{} shapes: {}, types: {}>", impl_->name(), output_shapes().to_string(false),
                output_types().to_string(false));
}
std::ostream& operator<<(std::ostream& os, const Dataset& d) { return os << d.to_string(); }

std::vector<Nest> Dataset::as_vector() const {
  RILL_CHECK(cardinality() != INFINITE_CARDINALITY, invalid_argument,
             "[Dataset.as_vector] the dataset is infinite; take() a number of elements of it");
  std::vector<Nest> all;
  Iterator it = make_iterator();
  for (Nest element; it.next(&element);) all.push_back(element);
  return all;
}

}  // namespace rill::data
