#include "rill/data/element_records_impl.h"

#include <algorithm>
#include <numeric>

#include "rill/io/tensor_bytes_impl.h"
#include "rill/ops/array_ops.h"
#include "rill/ops/ragged_ops.h"
#include "rill/ops/sparse_ops.h"

namespace rill::data {
namespace {

// Names under which TensorFlow registers what variants hold.
constexpr const char* kRaggedVariant = "RaggedTensorVariant";
constexpr const char* kTensorVariant = "tensorflow::Tensor";

// The items of a dict by their keys, others in order.
std::vector<std::size_t> item_order(const std::vector<std::string>& keys, std::size_t n) {
  std::vector<std::size_t> order(n);
  std::iota(order.begin(), order.end(), std::size_t{0});
  if (keys.size() == n)
    std::sort(order.begin(), order.end(),
              [&](std::size_t a, std::size_t b) { return keys[a] < keys[b]; });
  return order;
}

std::string component_bytes(const Nest& component) {
  if (component.is_tensor()) return io::tensor_bytes(component.as_tensor());
  const auto part = [&](std::size_t i) { return component.part(i).as_tensor(); };
  if (component.composite_kind() == "ragged") {
    io::VariantValue value{kRaggedVariant, {}};
    // All splits have one dtype there.
    for (std::size_t i = 1; i < component.size(); ++i)
      value.tensors.push_back(cast(part(i), part(1).dtype()));
    value.tensors.push_back(part(0));  // the flat values are last
    return io::variant_bytes(value);
  }
  RILL_CHECK(component.composite_kind() == "sparse", unimplemented,
             "[save] an element holds {}; tensors, ragged and sparse ones can be saved",
             component.to_string());
  std::vector<io::VariantValue> values;
  for (std::size_t i = 0; i < 3; ++i) values.push_back({kTensorVariant, {part(i)}});
  return io::variant_bytes(values);
}

void require_like(const TensorSpec& spec, const Tensor& t, std::string_view what) {
  RILL_CHECK(t.dtype() == spec.dtype() && spec.shape().is_compatible_with(t.shape()),
             invalid_argument, "{}: a component is {} of shape {}; expected {} of shape {}", what,
             t.dtype(), t.shape(), spec.dtype(), spec.shape());
}

Nest ragged_component(const ElementSpec& spec, std::string_view record, std::string_view what) {
  const std::vector<io::VariantValue> values = io::variants_of_bytes(record, what);
  RILL_CHECK(values.size() == 1 && values[0].type == kRaggedVariant &&
                 values[0].tensors.size() == spec.size(),
             invalid_argument, "{}: a component is not a ragged tensor of {} ragged axes", what,
             spec.size() - 1);
  std::vector<Tensor> splits = values[0].tensors;
  const Tensor flat = splits.back();
  splits.pop_back();
  require_like(spec[0].leaf(), flat, what);
  for (std::size_t i = 0; i < splits.size(); ++i)
    require_like(spec[static_cast<int>(i) + 1].leaf(), splits[i], what);
  if (splits.empty()) return Nest::composite("ragged", {Nest(flat)});
  return RaggedTensor::from_nested_row_splits(flat, splits, true).to_nest();
}

Nest sparse_component(const ElementSpec& spec, std::string_view record, std::string_view what) {
  const std::vector<io::VariantValue> values = io::variants_of_bytes(record, what);
  RILL_CHECK(values.size() == 3, invalid_argument, "{}: a component is not a sparse tensor", what);
  for (std::size_t i = 0; i < 3; ++i) {
    RILL_CHECK(values[i].type == kTensorVariant && values[i].tensors.size() == 1, invalid_argument,
               "{}: a component is not a sparse tensor", what);
    require_like(spec[static_cast<int>(i)].leaf(), values[i].tensors[0], what);
  }
  return SparseTensor(values[0].tensors[0], values[1].tensors[0], values[2].tensors[0]).to_nest();
}

// `got`: whether a record of the element was there.
Nest component_of(const ElementSpec& spec, const std::function<bool(std::string*)>& next,
                  std::string_view what, bool* got) {
  if (spec.is_leaf() || spec.is_composite()) {
    std::string record;
    if (!next(&record)) {
      RILL_CHECK(!*got, invalid_argument, "{}: the last element lacks components", what);
      return {};
    }
    *got = true;
    if (spec.is_composite())
      return spec.composite_kind() == "ragged" ? ragged_component(spec, record, what)
                                               : sparse_component(spec, record, what);
    const Tensor t = io::tensor_of_bytes(record, what);
    require_like(spec.leaf(), t, what);
    return Nest(t);
  }
  std::vector<Nest> items(spec.size());
  for (std::size_t i : item_order(spec.keys(), spec.size())) {
    const bool first = !*got;
    items[i] = component_of(spec[static_cast<int>(i)], next, what, got);
    if (first && !*got && spec[static_cast<int>(i)].flatten().size() > 0) return {};  // at the end
  }
  if (!spec.is_dict()) return Nest::make(std::move(items));
  std::vector<std::pair<std::string, Nest>> named;
  for (std::size_t i = 0; i < items.size(); ++i)
    named.emplace_back(spec.keys()[i], std::move(items[i]));
  return Nest(std::move(named));
}

}  // namespace

void write_element(const Nest& element, const std::function<void(std::string_view)>& f) {
  if (element.is_tensor() || element.is_composite()) return f(component_bytes(element));
  for (std::size_t i : item_order(element.keys(), element.size()))
    write_element(element.part(i), f);
}

bool read_element(const ElementSpec& spec, const std::function<bool(std::string*)>& next,
                  std::string_view what, Nest* element) {
  bool got = false;
  try {
    *element = component_of(spec, next, what, &got);
  } catch (const errors::InvalidArgument& e) {
    RILL_FAIL(data_loss, "{}", e.message());
  }
  return got;
}

std::vector<DType> record_dtypes(const ElementSpec& spec) {
  if (spec.is_composite()) return {variant};
  if (spec.is_leaf()) return {spec.leaf().dtype()};
  std::vector<DType> out;
  for (std::size_t i : item_order(spec.keys(), spec.size()))
    for (DType d : record_dtypes(spec[static_cast<int>(i)])) out.push_back(d);
  return out;
}

}  // namespace rill::data
