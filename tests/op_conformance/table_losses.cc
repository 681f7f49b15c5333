// Keras's losses and TensorFlow 1's, as composites.
#include "rill/compat/v1/losses.h"
#include "rill/keras/losses/losses.h"
#include "tests/op_conformance/row.h"

namespace rill::conformance {

namespace l = keras::losses;

RILL_ROWS(losses) {
  using Loss = Tensor (*)(const Operand&, const Operand&);
  const auto loss = [](const char* name, Loss f) -> Row& {
    return row(std::string("losses.") + name)
        .call([f](const std::vector<Tensor>& in) { return std::vector<Tensor>{f(in[0], in[1])}; })
        .tf(std::string("tf.keras.losses.") + name + "(x0, x1)")
        .tolerance(4e-6);
  };
  // Probabilities and labels in [0, 1].
  const auto p = [] { return x({3, 4}, 0.05, 0.95); };
  const auto y = [] { return fixed(x({3, 4}, {0, 1, 0, 0, 0.25, 0.25, 0.5, 0, 0, 0, 0, 1})); };
  loss("categorical_crossentropy", l::categorical_crossentropy)
      .sample({y(), p()})
      .sample({y(), fixed(x({3, 4}, {0, 1, 0, 0, 2, 2, 0, 0, 1, 0, 0, 0}))});
  loss("binary_crossentropy", l::binary_crossentropy)
      .sample({y(), p()})
      .sample({y(), fixed(x({3, 4}, {0, 1, 0, 0, 1, 1, 0, 0, 1, 0, 0, 0}))});
  loss("kl_divergence", l::kl_divergence).sample({y(), p()});
  loss("poisson", l::poisson).sample({y(), p()});
  loss("sparse_categorical_crossentropy", l::sparse_categorical_crossentropy)
      .sample({values(int32, {3}, {0, 3, 2}), p()})
      .sample({values(uint8, {3, 1}, {0, 3, 2}), p()})
      .sample({values(int64, {2, 3}, {0, 3, 2, 1, 1, 0}), x({2, 3, 4}, 0.05, 0.95)})
      .error({values(int32, {2}, {0, 4}), x({2, 4}, 0.1, 0.9)}, {}, "4");
  const auto a = [] { return x({2, 5}, -2, 2); };
  const auto b = [] { return x({2, 5}, {1.7, -0.4, 0.3, -1.6, 0.9, -2.6, 1.1, 0.05, 3.1, -0.8}); };
  for (const auto& [name, f] : std::initializer_list<std::pair<const char*, Loss>>{
           {"mean_squared_error", l::mean_squared_error},
           {"mean_absolute_error", l::mean_absolute_error},
           {"mean_absolute_percentage_error", l::mean_absolute_percentage_error},
           {"cosine_similarity", l::cosine_similarity}})
    loss(name, f).sample({a(), b()}).sample({x({2, 2, 3}, -2, 2), x({2, 2, 3}, -1.9, 2.2)});
  // TensorFlow works these out in float32, whatever comes in.
  const TypeSet single{float32};
  loss("huber", l::huber)
      .sample({a(), b()})
      .sample({x({2, 2, 3}, -2, 2), x({2, 2, 3}, -1.9, 2.2)})
      .dtypes(single);
  loss("log_cosh", l::log_cosh)
      .sample({a(), b()})
      .sample({x({2, 2, 3}, -2, 2), x({2, 2, 3}, -1.9, 2.2)})
      .dtypes(single);
  loss("mean_squared_logarithmic_error", l::mean_squared_logarithmic_error)
      .sample({x({2, 5}, 0.1, 3), x({2, 5}, 0.2, 4)});
  const auto s = [] { return fixed(x({2, 3}, {-1, 1, 1, -1, -1, 1})); };
  const auto z = [] { return fixed(x({2, 3}, {0, 1, 1, 0, 0, 1})); };
  const auto q = [] { return x({2, 3}, {0.3, -0.6, 1.4, 0.2, -1.7, 0.9}); };
  loss("hinge", l::hinge).sample({s(), q()}).sample({z(), q()});
  loss("squared_hinge", l::squared_hinge).sample({s(), q()}).sample({z(), q()});
  loss("categorical_hinge", l::categorical_hinge)
      .sample({fixed(x({2, 3}, {0, 1, 0, 0, 0, 1})), q()});

  // The options.
  const auto with = [](const char* name, Call call, const char* tf) -> Row& {
    return row(std::string("losses.") + name)
        .call(std::move(call))
        .tf(std::string("tf.keras.losses.") + tf)
        .tolerance(4e-6);
  };
  with(
      "categorical_crossentropy_logits",
      [](const auto& in) {
        return std::vector<Tensor>{l::categorical_crossentropy(
            in[0], in[1], {.from_logits = true, .label_smoothing = 0.1})};
      },
      "categorical_crossentropy(x0, x1, from_logits=True, label_smoothing=0.1)")
      .sample({y(), x({3, 4}, -3, 3)});
  with(
      "sparse_categorical_crossentropy_logits",
      [](const auto& in) {
        return std::vector<Tensor>{
            l::sparse_categorical_crossentropy(in[0], in[1], {.from_logits = true})};
      },
      "sparse_categorical_crossentropy(x0, x1, from_logits=True)")
      .sample({values(int32, {3}, {0, 3, 2}), x({3, 4}, -3, 3)});
  with(
      "binary_crossentropy_logits",
      [](const auto& in) {
        return std::vector<Tensor>{
            l::binary_crossentropy(in[0], in[1], {.from_logits = true, .label_smoothing = 0.2})};
      },
      "binary_crossentropy(x0, x1, from_logits=True, label_smoothing=0.2)")
      .sample({y(), x({3, 4}, -3, 3)});
  with(
      "huber_delta",
      [](const auto& in) { return std::vector<Tensor>{l::huber(in[0], in[1], 0.5)}; },
      "huber(x0, x1, delta=0.5)")
      .sample({a(), b()})
      .dtypes(single);

  // TensorFlow 1: scalars, with weights.
  const auto v1 = [&](const char* name,
                      Tensor (*f)(const Operand&, const Operand&, const Operand&)) -> Row& {
    return row(std::string("v1.losses.") + name)
        .call([f](const std::vector<Tensor>& in) {
          return std::vector<Tensor>{f(in[0], in[1], in[2])};
        })
        .tf(std::string("tf.compat.v1.losses.") + name + "(x0, x1, x2)")
        .dtypes(single)
        .tolerance(4e-6);
  };
  namespace o = compat::v1::losses;
  const auto w = [] { return fixed(x({3, 1}, {1, 0, 2})); };
  v1("sparse_softmax_cross_entropy",
     [](const Operand& t, const Operand& q_, const Operand& w_) {
       return o::sparse_softmax_cross_entropy(t, q_, w_);
     })
      .sample({values(int32, {3}, {0, 3, 2}), x({3, 4}, -3, 3), fixed(x({}, {1}))})
      .sample({values(int32, {3}, {0, 3, 2}), x({3, 4}, -3, 3), fixed(x({3}, {1, 0, 2}))});
  v1("softmax_cross_entropy", [](const Operand& t, const Operand& q_, const Operand& w_) {
    return o::softmax_cross_entropy(t, q_, w_);
  }).sample({y(), x({3, 4}, -3, 3), fixed(x({3}, {1, 0, 2}))});
  v1("sigmoid_cross_entropy", [](const Operand& t, const Operand& q_, const Operand& w_) {
    return o::sigmoid_cross_entropy(t, q_, w_);
  }).sample({y(), x({3, 4}, -3, 3), w()});
  v1("mean_squared_error", [](const Operand& t, const Operand& q_,
                              const Operand& w_) { return o::mean_squared_error(t, q_, w_); })
      .sample({y(), p(), w()})
      .error({x({3, 4}), x({3, 3}), x({}, {1})}, {}, "labels have shape");
  v1("absolute_difference", [](const Operand& t, const Operand& q_, const Operand& w_) {
    return o::absolute_difference(t, q_, w_);
  }).sample({y(), p(), w()});
  v1("huber_loss", [](const Operand& t, const Operand& q_, const Operand& w_) {
    return o::huber_loss(t, q_, w_);
  }).sample({y(), x({3, 4}, {2.5, 0.3, -1.7, 0.2, 3, -2, 0.75, 0.6, 0.1, 1.4, -0.3, 0.9}), w()});
  v1("hinge_loss", [](const Operand& t, const Operand& q_,
                      const Operand& w_) { return o::hinge_loss(t, q_, w_); })
      .sample(
          {fixed(x({3, 2}, {0, 1, 1, 0, 0, 1})), x({3, 2}, {0.3, -0.6, 1.4, 0.2, -1.7, 0.9}), w()});
  v1("log_loss", [](const Operand& t, const Operand& q_, const Operand& w_) {
    return o::log_loss(t, q_, w_);
  }).sample({y(), p(), w()});
}

}  // namespace rill::conformance
