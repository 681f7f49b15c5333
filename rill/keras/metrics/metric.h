#pragma once
#include <functional>
#include <memory>
#include <string>
#include <type_traits>
#include <vector>

#include "rill/base/overrides.h"
#include "rill/core/operand.h"
#include "rill/eager/variable.h"
#include "rill/keras/config.h"
#include "rill/keras/initializers/initializers.h"
#include "rill/keras/losses/loss.h"

namespace rill RILL_API {

class TrackableNode;
void retain(TrackableNode* n) noexcept;
void release(TrackableNode* n) noexcept;

namespace keras {

class MetricImpl;
class MetricRef;
void retain(MetricImpl*) noexcept;
void release(MetricImpl*) noexcept;

struct MetricWeightOptions {
  DType dtype = {};  // the metric's
  TensorShape shape = TensorShape::scalar();
  Initializer initializer = "zeros";
};
struct MetricOptions {
  std::string name = {};
  DType dtype = float32;
};

// A number that is kept over batches: update_state takes a batch in, result gives the number,
// reset_state starts again. A reference: copies share the state. A user-defined metric makes its
// variables in the constructor:
//
//   struct SparseAccuracy : keras::metrics::Metric {
//     tf::Variable total = add_weight("total", tf::int32), count = add_weight("count", tf::int32);
//     void update_state(const Tensor& y_true, const Tensor& y_pred, const Tensor&) override { ... }
//     Tensor result() override { return count / total; }
//   };
class Metric {
 public:
  virtual ~Metric();
  Metric(const Metric&);
  Metric& operator=(const Metric&);

  // sample_weight is undefined where there is none.
  virtual void update_state(const Tensor& y_true, const Tensor& y_pred,
                            const Tensor& sample_weight = {});
  virtual Tensor result();
  virtual void reset_state();  // all variables become 0
  void reset_states() { reset_state(); }
  // Takes in what others of the same kind have counted: each variable grows by theirs.
  // InvalidArgument for a metric whose variables are not like these.
  virtual void merge_state(const std::vector<MetricRef>& metrics);
  virtual std::string class_name() const;
  virtual Config get_config() const;

  // Updates, and gives the result.
  Tensor operator()(const Operand& y_true, const Operand& y_pred);
  Tensor operator()(const Operand& y_true, const Operand& y_pred, const Operand& sample_weight);

  std::string name() const;
  DType dtype() const;
  std::vector<Variable> variables() const;
  Ref<TrackableNode> trackable() const;

 protected:
  explicit Metric(MetricOptions options = {});
  template <StringLike S>
  explicit Metric(const S& name)
      : Metric(MetricOptions{.name = std::string(std::string_view(name))}) {}
  // State, 0 at first unless an initializer is given.
  Variable add_weight(std::string_view name, DType dtype = {},
                      const TensorShape& shape = TensorShape::scalar(),
                      const Initializer& initializer = "zeros");
  // A template, so that {} is a dtype.
  template <int = 0>
  Variable add_weight(std::string_view name, const MetricWeightOptions& o) {
    return add_weight(name, o.dtype, o.shape, o.initializer);
  }
  // State whose shape is known at the first update only: made then, found by its name later, by
  // copies too.
  Variable weight_once(std::string_view name, const TensorShape& shape, DType dtype = {});
  bool has_weight(std::string_view name) const;
  Ref<MetricImpl> impl_;
};

// A metric by name ("accuracy", "mae"), by function, or as an object, whose state it shares.
class MetricRef {
 public:
  MetricRef() = default;
  template <StringLike S>
  MetricRef(const S& name) : name_(std::string_view(name)) {}
  MetricRef(BinaryFn f) : MetricRef(by_pointer(f)) {}
  template <class M>
  requires std::is_base_of_v<Metric, M> MetricRef(const M& metric)
      : metric_(std::make_shared<M>(metric)), make_(maker<M>()) {
    RILL_CHECK_OVERRIDES(M, Metric, update_state);
    RILL_CHECK_OVERRIDES(M, Metric, result);
    RILL_CHECK_OVERRIDES(M, Metric, reset_state);
    RILL_CHECK_OVERRIDES(M, Metric, get_config);
  }
  template <class F>
  requires(std::is_invocable_r_v<Tensor, F&, Tensor, Tensor> && !std::is_base_of_v<Metric, F> &&
           !StringLike<F> && !std::is_convertible_v<F, BinaryFn> &&
           !std::is_same_v<std::remove_cvref_t<F>, MetricRef>) MetricRef(F f)
      : MetricRef(by_function(std::move(f))) {}

  bool defined() const { return static_cast<bool>(metric_); }
  // A name that stands for a metric only when shapes are known, as "accuracy" does, or for one
  // whose object is not made yet.
  const std::string& name() const { return name_; }
  Metric& operator*() const { return *metric_; }
  Metric* operator->() const { return metric_.get(); }
  // The object; the shapes of labels and predictions decide what "accuracy" is.
  // InvalidArgument, with the nearest name, for an unknown one.
  MetricRef resolved(const TensorShape& y_true, const TensorShape& y_pred) const;
  // The name, or {"class_name": .., "config": ..}, as Keras saves it. FailedPrecondition for a
  // user-defined function; InvalidArgument, with the nearest name, for an unknown class.
  Config serialize() const;
  static MetricRef deserialize(const Config& config);
  // One of the same class and arguments with its own state, as each of several outputs needs
  // it. A user-defined class has a static from_config(const keras::Config&), or a constructor that
  // takes the Config or nothing; InvalidArgument for another.
  MetricRef anew() const;

 private:
  static MetricRef by_pointer(BinaryFn f);
  static MetricRef by_function(std::function<Tensor(const Tensor&, const Tensor&)> f);
  using Maker = MetricRef (*)(const Config&);
  // How one is made of a configuration; null where the class does not say.
  template <class M>
  static Maker maker() {
    if constexpr (requires(const Config& c) { MetricRef(M::from_config(c)); })
      return [](const Config& c) { return MetricRef(M::from_config(c)); };
    else if constexpr (std::is_constructible_v<M, const Config&>)
      return [](const Config& c) { return MetricRef(M(c)); };
    else if constexpr (std::is_default_constructible_v<M>)
      return [](const Config&) { return MetricRef(M()); };
    else
      return nullptr;
  }
  std::shared_ptr<Metric> metric_;
  Maker make_ = nullptr;
  std::string name_;
};

namespace metrics {
using keras::Metric, keras::MetricRef;

// The metric of that name ("mse", "MeanSquaredError", "auc").
MetricRef get(std::string_view name);
Config serialize(const MetricRef& metric);
MetricRef deserialize(const Config& config);
}  // namespace metrics

}  // namespace keras
}  // namespace RILL_API
