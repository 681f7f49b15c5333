// What short pieces of the guides print, compared as text.
#include <gtest/gtest.h>

#include <sstream>

#include "examples/mnist_cnn.h"
#include "rill/rill.h"
#include "tests/printed.h"
#include "tests/shows.h"

namespace tf = rill;
namespace keras = tf::keras;
using rill::testing::printed;
using tf::Tensor;

namespace {

// print(a, b, ..)
template <class... T>
std::string line(const T&... values) {
  std::ostringstream os;
  const char* between = "";
  ((os << between << values, between = " "), ...);
  return os.str();
}
// print(x.numpy())
std::string numpy(const Tensor& x) { return x.numpy().to_string(); }
// print([g.numpy() for g in gradients]), where none is None.
std::string numpy(const tf::Gradients& gradients) {
  std::string text;
  for (std::size_t i = 0; i < gradients.size(); ++i)
    text += (i ? ", " : "") +
            (gradients[i].defined() ? numpy(Tensor(gradients[i])) : printed(gradients[i]));
  return "[" + text + "]";
}

TEST(GuideOutputs, EagerExecutionIsOn) {
  RILL_SHOWS("Q01");
  EXPECT_EQ(numpy(tf::constant(tf::executing_eagerly())), "True");
}

TEST(GuideOutputs, MeansOfLosses) {
  RILL_SHOWS("Q12");
  keras::metrics::Mean m("loss");
  m(0);
  m(5);
  EXPECT_EQ(numpy(m.result()), "2.5");
  m({8, 9});
  EXPECT_EQ(numpy(m.result()), "5.5");
}

TEST(GuideOutputs, DerivativesOfASquare) {
  RILL_SHOWS("Q13", "Q15");
  const auto square = [](Tensor x) { return tf::multiply(x, x); };
  const auto grad = tf::gradients_function(square);
  const auto gradgrad = tf::gradients_function([&](Tensor x) { return Tensor(grad(x)[0]); });
  const auto third = tf::gradients_function([&](Tensor x) { return Tensor(gradgrad(x)[0]); });
  EXPECT_EQ(numpy(square(tf::constant(3.f))), "9.0");
  EXPECT_EQ(numpy(grad(3.f)), "[6.0]");
  EXPECT_EQ(numpy(gradgrad(3.f)), "[2.0]");
  EXPECT_EQ(numpy(third(3.f)), "[None]");
  const auto [aa, bb] = tf::value_and_gradients_function(square)(3.f);
  EXPECT_EQ(numpy(aa), "9.0");
  EXPECT_EQ(numpy(Tensor(bb[0])), "6.0");
}

TEST(GuideOutputs, SlopesOfAnAbsoluteValue) {
  RILL_SHOWS("Q14");
  const auto grad = tf::gradients_function([](Tensor x) { return x > 0.f ? x : -x; });
  EXPECT_EQ(numpy(grad(3.f)), "[1.0]");
  EXPECT_EQ(numpy(grad(-3.f)), "[-1.0]");
}

TEST(GuideOutputs, AFunctionOfTwoNumbers) {
  RILL_SHOWS("Q16");
  const auto f = [](Tensor x, Tensor y) { return x * x * x * y - x * y * y; };
  const auto [value, grads] = tf::value_and_gradients_function(f)(2.f, 3.f);
  EXPECT_EQ(numpy(value), "6.0");
  EXPECT_EQ(numpy(grads), "[27.0, -4.0]");
}

TEST(GuideOutputs, ANaiveLogarithm) {
  RILL_SHOWS("Q17");
  const auto grad = tf::gradients_function([](Tensor x) { return tf::log(1 + tf::exp(x)); });
  EXPECT_EQ(numpy(grad(0.f)), "[0.5]");
  EXPECT_EQ(numpy(grad(100.f)), "[nan]");
}

TEST(GuideOutputs, NamesOfInputs) {
  RILL_SHOWS("Q30");
  keras::backend::clear_session();
  const auto in = keras::Input({784});
  const keras::Model model(in, keras::layers::Dense(10)(in));
  std::string names;
  for (const std::string& name : model.input_names()) names += "'" + name + "'";
  EXPECT_EQ("[" + names + "]", "['input_1']");
}

TEST(GuideOutputs, LossAndItsGradients) {
  RILL_SHOWS("Q32", "Q33");
  tf::Variable x(3.f);
  tf::GradientTape tape;
  const auto y = tf::square(x);
  EXPECT_EQ(line(y, tape.gradient(y, x)),
            "tf.Tensor(9.0, shape=(), dtype=float32) tf.Tensor(6.0, shape=(), dtype=float32)");
  const auto X = tf::constant({{1., 2.}, {3., 4.}}), target = tf::constant({{1.}, {2.}});
  tf::Variable w({{1.}, {2.}}), b(1.);
  tf::GradientTape second;
  const auto L = tf::reduce_sum(tf::square(tf::matmul(X, w) + b - target));
  const auto grads = second.gradient(L, {w, b});
  EXPECT_EQ(line(L, grads[0], grads[1]),
            "tf.Tensor(125.0, shape=(), dtype=float32) tf.Tensor(\n"
            "[[ 70.]\n"
            " [100.]], shape=(2, 1), dtype=float32) tf.Tensor(30.0, shape=(), dtype=float32)");
}

// What the comments of the guide's class say.
TEST(GuideOutputs, ShapesOfTheConvolutionalNetwork) {
  RILL_SHOWS("Q38");
  CNN model;
  for (const int batch : {50, 1}) {
    Tensor x = tf::zeros({batch, 28, 28, 1});
    std::string shapes;
    for (const auto& layer : model.layers()) shapes += printed((x = (*layer)(x)).shape()) + "\n";
    const std::string b = "(" + std::to_string(batch) + ", ";
    EXPECT_EQ(shapes, b + "28, 28, 32)\n" + b + "14, 14, 32)\n" + b + "14, 14, 64)\n" + b +
                          "7, 7, 64)\n" + b + "3136)\n" + b + "1024)\n" + b + "10)\n");
  }
}

// The rates print as TensorFlow 2.15 prints them, which rounds two of the guide's otherwise.
TEST(GuideOutputs, RatesOfAnExponentialDecay) {
  RILL_SHOWS("Q48");
  std::string text;
  for (int step = 1; step <= 10; ++step)
    text += numpy(tf::compat::v1::train::exponential_decay(0.1, step, 10, 2)) + "\n";
  EXPECT_EQ(text,
            "0.10717734\n0.11486983\n0.123114444\n0.1319508\n0.14142136\n"
            "0.15157166\n0.16245048\n0.17411011\n0.1866066\n0.2\n");
}

TEST(GuideOutputs, TheLimitOfGlorotsNumbers) {
  RILL_SHOWS("Q51");
  const auto limit = tf::sqrt(tf::constant(6.f) / (784.f + 100.f));
  EXPECT_EQ(numpy(limit), "0.08238526");
  const auto kernel = keras::initializers::GlorotUniform()({784, 100});
  EXPECT_LE(tf::reduce_max(tf::abs(kernel)).item<float>(), limit.item<float>());
  EXPECT_GT(tf::reduce_max(tf::abs(kernel)).item<float>(), 0.999f * limit.item<float>());
}

}  // namespace
