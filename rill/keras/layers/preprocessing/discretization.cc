#include <algorithm>
#include <cmath>

#include "rill/base/check.h"
#include "rill/data/dataset.h"
#include "rill/graph/ir/graph.h"
#include "rill/keras/layers/fields_impl.h"
#include "rill/keras/layers/preprocessing/index_lookup_impl.h"
#include "rill/ops/array_ops.h"
#include "rill/ops/math_ops.h"

namespace rill::keras {
namespace {

struct DiscretizationFields {
  using Options = layers::DiscretizationOptions;
  template <class F, class O>
  static void visit(F& f, O& o) {
    f("bin_boundaries", o.bin_boundaries, ListOrNull<double>());
    f("num_bins", o.num_bins, NullBelow<1>());
    f("epsilon", o.epsilon);
    f("output_mode", o.output_mode);
    f("sparse", o.sparse);
    f.for_keras3([](Config& c) { c.erase("trainable"); });  // Keras 3 does not take it
  }
};
OutputMode discretization_mode(const std::string& name) {
  return output_mode_of(
      "Discretization", name,
      {OutputMode::integers, OutputMode::one_hot, OutputMode::multi_hot, OutputMode::count});
}

// Numbers and how many they stand for, ascending.
struct Summary {
  std::vector<float> values, weights;
};
Summary summary_of(std::vector<float> values, double epsilon) {
  std::sort(values.begin(), values.end());
  const auto increment =
      static_cast<std::size_t>(static_cast<float>(values.size()) / static_cast<float>(1 / epsilon));
  const std::size_t step = std::max<std::size_t>(increment, 1);
  Summary s;
  for (std::size_t i = increment; i < values.size(); i += step) {
    s.values.push_back(values[i]);
    s.weights.push_back(static_cast<float>(step));
  }
  return s;
}
// The line through the points (x[i], y[i]), x ascending, level at both ends.
double between(double at, const std::vector<double>& x, const std::vector<double>& y) {
  const auto right = std::upper_bound(x.begin(), x.end(), at);
  if (right == x.begin()) return y.front();
  if (right == x.end()) return y.back();
  const auto i = static_cast<std::size_t>(right - x.begin());
  return y[i - 1] + (y[i] - y[i - 1]) / (x[i] - x[i - 1]) * (at - x[i - 1]);
}
// At most about 1 / epsilon numbers, equally far apart by what they stand for.
Summary compressed(const Summary& s, double epsilon) {
  if (static_cast<double>(s.values.size()) * epsilon < 1) return s;
  std::vector<double> sums, parts, values(s.values.begin(), s.values.end());
  float sum = 0;  // as NumPy adds up floats
  for (const float w : s.weights) sums.push_back(sum += w);
  for (const double v : sums)
    parts.push_back(static_cast<double>(static_cast<float>(v) / static_cast<float>(sums.back())));
  Summary out;
  double before = 0;
  const auto count = static_cast<std::int64_t>(std::ceil(1 / epsilon));
  for (std::int64_t i = 0; i < count; ++i) {
    const double percent = epsilon + static_cast<double>(i) * epsilon;
    out.values.push_back(static_cast<float>(between(percent, parts, values)));
    const double total = between(percent, parts, sums);
    out.weights.push_back(static_cast<float>(total - before));
    before = total;
  }
  return out;
}
Summary merged(const Summary& a, const Summary& b, double epsilon) {
  std::vector<std::pair<float, float>> all;
  for (const Summary* s : {&a, &b})
    for (std::size_t i = 0; i < s->values.size(); ++i)
      all.emplace_back(s->values[i], s->weights[i]);
  std::stable_sort(all.begin(), all.end(),
                   [](const auto& x, const auto& y) { return x.first < y.first; });
  Summary s;
  for (const auto& [value, weight] : all) s.values.push_back(value), s.weights.push_back(weight);
  return compressed(s, epsilon);
}

class DiscretizationLayer : public LayerImpl, public LayerFiles {
 public:
  explicit DiscretizationLayer(const layers::DiscretizationOptions& o)
      : LayerImpl("Discretization", integers_or_floats(o, discretization_mode(o.output_mode))),
        o_(o),
        mode_(discretization_mode(o.output_mode)),
        boundaries_(o.bin_boundaries.begin(), o.bin_boundaries.end()) {
    autocast = false;
    RILL_CHECK(o_.num_bins >= 0, invalid_argument,
               "[Discretization] num_bins is {}; expected 1 or more", o_.num_bins);
    RILL_CHECK(!o_.sparse || mode_ != OutputMode::integers, invalid_argument,
               "[Discretization] sparse with output_mode \"int\"; expected another one");
    RILL_CHECK(std::is_sorted(boundaries_.begin(), boundaries_.end()), invalid_argument,
               "[Discretization] bin_boundaries must ascend");
    // Keras 3 writes what adapt found beside num_bins.
    given_ = !boundaries_.empty() && o_.num_bins == 0;
  }
  void build(const std::vector<TensorShape>&) override {
    if (!boundaries_.empty()) return;
    summary_ = add_weight("summary", {2, None},
                          {.dtype = float32, .initializer = "zeros", .trainable = false});
  }
  Nest call_nest(const Nest& inputs, const CallContext&) override {
    const Tensor boundaries = reshape(constant(current(), float32), {-1});
    const Nest bins = map_values(inputs, [&](const Tensor& given) {
      RILL_CHECK(given.dtype() != string, invalid_argument,
                 "[{}] the input is string; expected numbers", name());
      const Tensor x = given.dtype() == float32 ? given : cast(given, float32);
      return reshape_to(searchsorted(boundaries, reshape(x, {-1}), "right", int64), x.shape(), x);
    });
    return encoded(bins, {.mode = mode_,
                          .depth = static_cast<std::int64_t>(current().size()) + 1,
                          .dtype = policy.compute_dtype(),
                          .sparse = o_.sparse,
                          .layer = class_name()});
  }
  // What adapt found is written as if it had been given: both Keras read that.
  void add_config(Config& c) const override {
    layers::DiscretizationOptions o = o_;
    const std::vector<float> found = current();
    o.bin_boundaries.assign(found.begin(), found.end());
    if (!found.empty()) o.num_bins = 0;
    write_fields<DiscretizationFields>(o, c);
  }
  bool weights_are_in_config() const override { return !current().empty(); }

  void reset() {
    RILL_CHECK(!given_, invalid_argument,
               "[{}] adapt: the layer was given its bin_boundaries; make it with num_bins", name());
    RILL_CHECK(o_.num_bins > 0, invalid_argument,
               "[{}] adapt: num_bins is not given; expected the number of intervals", name());
    seen_ = {};
  }
  void update(const std::vector<float>& values) {
    seen_ = merged(summary_of(values, o_.epsilon), seen_, o_.epsilon);
  }
  // Keras 2 takes an array in batches of 32, which decides which quantiles it finds.
  void update_in_batches(const Tensor& data) {
    const std::vector<float> all = cast(data, float32).to_vector<float>();
    const std::int64_t rows = data.ndim() > 0 ? data.shape().dim(0) : 1;
    const std::size_t row = rows > 0 ? all.size() / static_cast<std::size_t>(rows) : 0;
    const std::size_t step = behaves_as == 3 ? all.size() : 32 * row;
    for (std::size_t at = 0; at < all.size(); at += step)
      update({all.begin() + static_cast<std::ptrdiff_t>(at),
              all.begin() + static_cast<std::ptrdiff_t>(std::min(all.size(), at + step))});
  }
  // As in Keras 2 the weight holds what was seen, so that checkpoints do. A layer that was built
  // with boundaries of a file of Keras 3 has none.
  void finish() {
    if (!summary_.initialized()) {
      boundaries_ = quantiles(seen_);
      return;
    }
    boundaries_.clear();
    const auto row = [](const std::vector<float>& v) {
      return reshape(constant(v, float32), {-1});
    };
    summary_.assign(stack({row(seen_.values), row(seen_.weights)}));
  }
  std::vector<float> current() const {
    if (!boundaries_.empty() || !summary_.initialized() || o_.num_bins == 0) return boundaries_;
    const EagerScope now;
    const Tensor s = summary_.value();
    if (s.size() == 0) return {};
    return quantiles({s[0].to_vector<float>(), s[1].to_vector<float>()});
  }

 private:
  std::vector<float> quantiles(const Summary& s) const {
    std::vector<float> all = compressed(s, 1.0 / static_cast<double>(o_.num_bins)).values;
    if (!all.empty()) all.pop_back();
    return all;
  }
  layers::DiscretizationOptions o_;
  OutputMode mode_;
  std::vector<float> boundaries_;
  bool given_ = false;
  Summary seen_;
  Variable summary_;
};

DiscretizationLayer& bins_of_layer(const Layer& layer) {
  return static_cast<DiscretizationLayer&>(layer.impl());
}

// The weight that adapt fills; it has one form for inputs of any shape.
void make_summary(const Layer& layer, TensorShape input) {
  if (bins_of_layer(layer).built) return;
  if (input.rank() > 0) input.set_dim(0, -1);
  LayerCalls::build(layer, {input});
}

const RegisterFields<DiscretizationFields, layers::Discretization> discretization("Discretization");

}  // namespace

layers::Discretization::Discretization() : Discretization(DiscretizationOptions{}) {}
layers::Discretization::Discretization(DiscretizationOptions o)
    : Layer(this, new DiscretizationLayer(o)) {}
void layers::Discretization::adapt(const Tensor& data) const {
  bins_of_layer(*this).reset();
  make_summary(*this, data.shape());
  bins_of_layer(*this).update_in_batches(data);
  bins_of_layer(*this).finish();
}
void layers::Discretization::adapt(const data::Dataset& batches) const {
  bins_of_layer(*this).reset();
  for_each_element(batches, name(), [&](const Nest& x) {
    make_summary(*this, x.as_tensor().shape());
    bins_of_layer(*this).update(cast(x.as_tensor(), float32).to_vector<float>());
  });
  bins_of_layer(*this).finish();
}
std::vector<double> layers::Discretization::bin_boundaries() const {
  const std::vector<float> found = bins_of_layer(*this).current();
  return {found.begin(), found.end()};
}

}  // namespace rill::keras
