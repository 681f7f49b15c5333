#pragma once
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "rill/rill.h"
#include "tests/checkpoint_files.h"

// A small training by any optimizer; rill/saving/testdata/make_checkpoints.py has the same.
namespace rill::checkpoints {

namespace tf = rill;
namespace keras = tf::keras;
namespace v1 = tf::compat::v1;

// One optimizer of any family: what it is, and how it makes a step.
struct AnyOptimizer {
  tf::train::TrackableRef object;
  std::function<void(const tf::GradientsAndVariables&)> apply;
};
template <class O>
AnyOptimizer any(O o) {
  return {tf::train::TrackableRef(o),
          [o](const tf::GradientsAndVariables& g) mutable { o.apply_gradients(g); }};
}

inline std::map<std::string, std::function<AnyOptimizer()>> optimizers() {
  namespace k = keras::optimizers;
  namespace t = v1::train;
  return {
      {"adam", [] { return any(k::Adam(0.01)); }},
      {"adam_amsgrad", [] { return any(k::Adam({.learning_rate = 0.01, .amsgrad = true})); }},
      {"sgd", [] { return any(k::SGD(0.1)); }},
      {"sgd_momentum", [] { return any(k::SGD({.learning_rate = 0.1, .momentum = 0.9})); }},
      {"rmsprop", [] { return any(k::RMSprop(0.01)); }},
      {"rmsprop_centered",
       [] { return any(k::RMSprop({.learning_rate = 0.01, .momentum = 0.9, .centered = true})); }},
      {"adagrad", [] { return any(k::Adagrad({.learning_rate = 0.1})); }},
      {"adadelta", [] { return any(k::Adadelta({.learning_rate = 0.1})); }},
      {"adamax", [] { return any(k::Adamax({.learning_rate = 0.01})); }},
      {"nadam", [] { return any(k::Nadam({.learning_rate = 0.01})); }},
      {"ftrl", [] { return any(k::Ftrl({.learning_rate = 0.1})); }},
      {"v1_adam", [] { return any(t::AdamOptimizer(0.01)); }},
      {"v1_momentum", [] { return any(t::MomentumOptimizer(0.1, 0.9)); }},
      {"v1_rmsprop", [] { return any(t::RMSPropOptimizer(0.01, 0.9, 0.0, 1e-10, true)); }},
      {"v1_adagrad", [] { return any(t::AdagradOptimizer(0.1)); }},
      {"v1_adadelta", [] { return any(t::AdadeltaOptimizer(0.1)); }},
      {"v1_ftrl", [] { return any(t::FtrlOptimizer(0.1)); }},
      {"v1_descent", [] { return any(t::GradientDescentOptimizer(0.1)); }},
  };
}

struct Training {
  explicit Training(const AnyOptimizer& o) : optimizer(o) {}
  void steps(int from, int to) {
    for (int i = from; i < to; ++i) {
      const float n = static_cast<float>(i + 1);
      optimizer.apply({{tf::constant({{0.5f, -1.f}, {0.25f, 2.f}}) * n, w},
                       {tf::constant({1.f, -0.5f}) / n, b}});
    }
  }
  std::vector<float> values() const {
    std::vector<float> out = w.to_vector<float>();
    for (float x : b.to_vector<float>()) out.push_back(x);
    return out;
  }
  tf::train::Checkpoint checkpoint() const {
    return tf::train::Checkpoint({{"w", w}, {"b", b}, {"optimizer", optimizer.object}});
  }
  AnyOptimizer optimizer;
  tf::Variable w = tf::Variable(tf::constant({{1.f, 2.f}, {3.f, 4.f}}), {.name = "w"}),
               b = tf::Variable(tf::constant({0.5f, -0.5f}), {.name = "b"});
};

}  // namespace rill::checkpoints
