#include "rill/base/check.h"
#include "rill/core/tensor_impl.h"
#include "rill/data/state_impl.h"
#include "rill/keras/training/progress_impl.h"
#include "rill/ops/random/seeds.h"

namespace rill::keras {

namespace {
constexpr const char* kKey = "FIT_PROGRESS";
}

FitProgress::FitProgress(Trainer& trainer, Batches& batches, Batches* validation)
    : trainer_(trainer), batches_(batches), validation_(validation) {}

Ref<TrackableNode> FitProgress::trackable() const {
  auto* self = const_cast<FitProgress*>(this);
  retain(self);
  return Ref<TrackableNode>(self);
}

std::vector<std::string> FitProgress::saved_keys() { return {kKey}; }

std::vector<TrackableNode::SavedValue> FitProgress::saved_values() {
  data::StateWriter out;
  out.stage("fit");
  out.put(std::int64_t{epoch});
  out.put(step);
  out.put(results);
  out.put(batches_.save());
  out.put(validation_ ? validation_->save() : std::string());
  out.put(random_state());
  trainer_.save(out);
  const Tensor t = make_tensor(string, TensorShape::scalar());
  *mutable_data<std::string>(t) = std::move(out).finish();
  return {{kKey, t}};
}

void FitProgress::restore_value(std::string_view, const Tensor& value) {
  RILL_CHECK(value.dtype() == string && value.size() == 1, invalid_argument,
             "[fit] the saved progress is {} {}; expected one string", value.dtype(),
             value.shape());
  const std::string bytes = value.item<std::string>();
  data::StateReader in(bytes);
  in.stage("fit");
  const auto saved_epoch = static_cast<int>(in.integer(0, INT32_MAX));
  const std::int64_t saved_step = in.integer(0, INT64_MAX);
  Nest saved_results = in.nest();
  const std::string_view data = in.text(), validation = in.text();
  const std::vector<std::int64_t> random = in.list();
  Trainer::Progress trained = Trainer::read_progress(in);
  in.finish();
  batches_.restore(data, saved_step);
  if (validation_) validation_->restore(validation, 0);
  set_random_state(random);
  trainer_.restore(std::move(trained));
  epoch = saved_epoch;
  step = saved_step;
  results = std::move(saved_results);
  resumed = true;
  stepped = false;
}

}  // namespace rill::keras
