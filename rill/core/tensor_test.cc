#include "rill/core/tensor.h"

#include <gtest/gtest.h>

#include <complex>
#include <sstream>

#include "rill/base/error.h"
#include "rill/core/device.h"
#include "rill/core/gradient.h"
#include "rill/core/half.h"
#include "rill/core/operand.h"
#include "rill/core/tensor_impl.h"
#include "tests/expect_error.h"
#include "tests/printed.h"
#include "tests/shows.h"

namespace rill {
using rill::testing::printed;

namespace {

using testing::expect_error;

// The public functions take lists; to_tensor takes what they pass on.
Tensor of(std::initializer_list<Operand> list, DType dtype = {}) {
  return to_tensor(Operand(list), dtype);
}

TEST(Tensor, HasTheMethodsOfPythons) {
  RILL_SHOWS("E66");
  const Tensor x = of({{1.f, 2.f}, {3.f, 4.f}});
  EXPECT_EQ(x.shape(), TensorShape({2, 2}));
  EXPECT_EQ(x.dtype(), float32);
  EXPECT_EQ(x.numpy().to_string(), "[[1. 2.]\n [3. 4.]]");
  EXPECT_EQ(&x.cpu().device(), &cpu_device());
  EXPECT_THROW(x.gpu(), errors::InvalidArgument);  // where there is none
  expect_error<errors::FailedPrecondition>([&] { x.eval(); }, ".numpy()");
  x.set_shape({None, 2});
  expect_error<errors::InvalidArgument>([&] { x.set_shape({3, 2}); }, "not compatible with [3, 2]");
}

TEST(Tensor, PrintsValueShapeAndDType) {
  RILL_SHOWS("E10", "E11", "E12");
  EXPECT_EQ(printed(to_tensor(9.f)), "tf.Tensor(9.0, shape=(), dtype=float32)");
  EXPECT_EQ(printed(to_tensor(6.f)), "tf.Tensor(6.0, shape=(), dtype=float32)");
  EXPECT_EQ(printed(of({{70.f}, {100.f}})),
            "tf.Tensor(\n[[ 70.]\n [100.]], shape=(2, 1), dtype=float32)");
  EXPECT_EQ(printed(of({{2.f}})), "tf.Tensor([[2.]], shape=(1, 1), dtype=float32)");
}

TEST(Tensor, PrintsShapeDTypeAndArray) {
  RILL_SHOWS("E13", "Q31");
  const Tensor a = of({{1, 2}, {3, 4}});
  std::ostringstream os;
  os << a.shape() << " / " << a.dtype() << " / " << a.numpy().to_string();
  EXPECT_EQ(os.str(), "(2, 2) / <dtype: 'int32'> / [[1 2]\n [3 4]]");
}

TEST(Tensor, PrintsEveryDType) {
  EXPECT_EQ(printed(of({1.5, 0.1}, float16)), "tf.Tensor([1.5 0.1], shape=(2,), dtype=float16)");
  EXPECT_EQ(printed(of({1.5, 2}, bfloat16)), "tf.Tensor([1.5 2], shape=(2,), dtype=bfloat16)");
  EXPECT_EQ(printed(of({0.1, 1e-8}, float64)),
            "tf.Tensor([1.e-01 1.e-08], shape=(2,), dtype=float64)");
  EXPECT_EQ(printed(of({1, 255}, uint8)), "tf.Tensor([  1 255], shape=(2,), dtype=uint8)");
  EXPECT_EQ(printed(of({-1, 1}, complex64)),
            "tf.Tensor([-1.+0.j  1.+0.j], shape=(2,), dtype=complex64)");
  EXPECT_EQ(printed(of({true, false})), "tf.Tensor([ True False], shape=(2,), dtype=bool)");
  EXPECT_EQ(printed(of({"a", "b\n"})), "tf.Tensor([b'a' b'b\\n'], shape=(2,), dtype=string)");
  EXPECT_EQ(printed(to_tensor("abc")), "tf.Tensor(b'abc', shape=(), dtype=string)");
  EXPECT_EQ(printed(make_tensor(float32, TensorShape{0, 3})),
            "tf.Tensor([], shape=(0, 3), dtype=float32)");
  EXPECT_EQ(printed(Tensor()), "None");
}

TEST(Tensor, FormatsInText) {
  RILL_SHOWS("E05", "E16", "Q52");
  EXPECT_EQ(format("hello, {}", of({{4.}})), "hello, [[4.]]");
  EXPECT_EQ(format("Initial loss: {:.3f}", to_tensor(70.3721f)), "Initial loss: 70.372");
  EXPECT_EQ(format("{:5d}|{:.2f}", to_tensor(42), to_tensor(3)), "   42|3.00");
  expect_error<errors::InvalidArgument>(
      [] {
        format("{:.3f}", of({1.f, 2.f}));
      },
      "formats a scalar, got a tensor of shape [2]");
}

TEST(Tensor, FillsTheFormatsOfTheGuides) {
  RILL_SHOWS("Q63");
  EXPECT_EQ(format("Loss at step {:04d}: {:.3f}", 20, to_tensor(0.0829f)),
            "Loss at step 0020: 0.083");
  EXPECT_EQ(format("Final loss: {:.3f}", to_tensor(0.0048f)), "Final loss: 0.005");
  EXPECT_EQ(format("W = {}, B = {}", to_tensor(3.5f), to_tensor(2.f)), "W = 3.5, B = 2.0");
  EXPECT_EQ(format("batch {:d}: loss {:f}", 7, to_tensor(0.5f)), "batch 7: loss 0.500000");
  EXPECT_EQ(format("loss {:f}", to_tensor(0.25f)), "loss 0.250000");
  EXPECT_EQ(format("test accuracy: {:f}", to_tensor(0.9786f)), "test accuracy: 0.978600");
  EXPECT_EQ(format("diversity {:f}:", 0.2), "diversity 0.200000:");
  EXPECT_EQ(format("model saved to {}", "./save/model.ckpt-1"),
            "model saved to ./save/model.ckpt-1");
}

TEST(Tensor, ScalarsConvertToNumbers) {
  RILL_SHOWS("E17");
  char text[64];
  std::snprintf(text, sizeof text, "test accuracy: %f", static_cast<double>(to_tensor(0.9786f)));
  EXPECT_STREQ(text, "test accuracy: 0.978600");
  std::snprintf(text, sizeof text, "Eager result: %d", static_cast<int>(to_tensor(42)));
  EXPECT_STREQ(text, "Eager result: 42");
  EXPECT_EQ(static_cast<float>(of({{2.5f}})), 2.5f);
  expect_error<errors::InvalidArgument>(
      [] {
        static_cast<void>(static_cast<double>(of({1.f, 2.f})));
      },
      "[item] expected one element, got shape [2] (2 elements)");
}

TEST(Tensor, TruthIsThatOfOneElement) {
  EXPECT_TRUE(static_cast<bool>(to_tensor(0.5f)));
  EXPECT_FALSE(static_cast<bool>(to_tensor(0)));
  EXPECT_TRUE(static_cast<bool>(to_tensor(true)));
  EXPECT_FALSE(static_cast<bool>(to_tensor("")));
  EXPECT_TRUE(static_cast<bool>(of({{-1}})));
  expect_error<errors::InvalidArgument>(
      [] {
        static_cast<void>(static_cast<bool>(of({1, 0})));
      },
      "truth value of a tensor of shape [2] is ambiguous");
  expect_error<errors::FailedPrecondition>([] { static_cast<void>(static_cast<bool>(Tensor())); },
                                           "undefined");
}

TEST(Tensor, UndefinedTensorsSayWhatIsMissing) {
  const Tensor none;
  EXPECT_FALSE(none.defined());
  EXPECT_EQ(none.to_string(), "None");
  expect_error<errors::FailedPrecondition>([&] { none.shape(); },
                                           "[shape] this Tensor is undefined");
  expect_error<errors::FailedPrecondition>([&] { none.dtype(); }, "undefined");
  expect_error<errors::FailedPrecondition>([&] { none.size(); }, "undefined");
  expect_error<errors::FailedPrecondition>([&] { none.item<float>(); }, "undefined");
  expect_error<errors::FailedPrecondition>([&] { none.to_vector<float>(); }, "undefined");
  expect_error<errors::FailedPrecondition>([&] { none.cpu(); }, "undefined");
  expect_error<errors::FailedPrecondition>([&] { none.data<float>(); }, "undefined");
}

TEST(Tensor, ElementsConvertBetweenNumbers) {
  EXPECT_EQ(of({1.75, -2}).to_vector<int>(), (std::vector<int>{1, -2}));
  EXPECT_EQ(of({1, 2}).to_vector<double>(), (std::vector<double>{1, 2}));
  EXPECT_EQ(of({1.5, 2}, float16).to_vector<float>(), (std::vector<float>{1.5f, 2}));
  EXPECT_EQ(of({1, 2}, complex128).to_vector<std::complex<float>>(),
            (std::vector<std::complex<float>>{1, 2}));
  expect_error<errors::InvalidArgument>(
      [] { of({2}, complex64).item<float>(); },
      "a complex number does not fit in a real one; use tf::math::real, imag or abs");
  expect_error<errors::InvalidArgument>(
      [] {
        of({1, 2}, complex128).to_vector<int>();
      },
      "a complex number does not fit");
  EXPECT_EQ(of({"a", "b"}).to_vector<std::string>(), (std::vector<std::string>{"a", "b"}));
  expect_error<errors::InvalidArgument>([] { of({"a"}).to_vector<float>(); },
                                        "no conversion between numbers and strings");
  expect_error<errors::InvalidArgument>([] { of({1}).to_vector<std::string>(); },
                                        "no conversion between numbers and strings");
}

TEST(Tensor, SpansShowTheElementsInPlace) {
  const Tensor t = of({{1.f, 2.f}, {3.f, 4.f}});
  const std::span<const float> s = t.data<float>();
  EXPECT_THAT(s, ::testing::ElementsAre(1, 2, 3, 4));
  EXPECT_EQ(s.data(), t.data<float>().data());
  EXPECT_EQ(of({1.5}, float16).data<half>()[0].bits, 0x3e00);
  EXPECT_EQ(of({1.5}, bfloat16).data<bfloat16_t>()[0].bits, 0x3fc0);
  EXPECT_EQ(of({2}, complex64).data<std::complex<float>>()[0], std::complex<float>(2));
  expect_error<errors::InvalidArgument>(
      [&] { t.data<double>(); },
      "[data] the elements are float32, not float64; use to_vector to convert");
}

TEST(Tensor, HalfTypesRoundToNearestEven) {
  EXPECT_EQ(of({2049, 2051}, float16).to_vector<float>(), (std::vector<float>{2048, 2052}));
  EXPECT_EQ(of({257, 259}, bfloat16).to_vector<float>(), (std::vector<float>{256, 260}));
  EXPECT_EQ(of({1e6}, float16).to_string(), "[inf]");
}

TEST(Tensor, TakesMemoryOfTheCaller) {
  static int deleted = 0;
  float numbers[] = {1, 2, 3, 4};
  {
    const Tensor t = Tensor::from_memory(
        numbers, {2, 2}, float32, [](void* context) { ++*static_cast<int*>(context); }, &deleted);
    EXPECT_EQ(t.data<float>().data(), numbers);
    EXPECT_EQ(t.to_string(), "[[1. 2.]\n [3. 4.]]");
    const Tensor copy = t;
    EXPECT_EQ(copy.id(), t.id());
  }
  EXPECT_EQ(deleted, 1);
}

TEST(Tensor, RefusesMemoryThatItCannotRead) {
  expect_error<errors::InvalidArgument>([] { Tensor::from_memory(nullptr, {2}, float32); },
                                        "data is null for shape [2]");
  const std::string text;
  expect_error<errors::InvalidArgument>([&] { Tensor::from_memory(&text, {1}, string); },
                                        "dtype string cannot be taken from raw memory");
  const float one = 1;
  expect_error<errors::InvalidArgument>([&] { Tensor::from_memory(&one, {None}, float32); },
                                        "not fully defined");
  const std::int64_t big = std::int64_t{1} << 40;
  expect_error<errors::InvalidArgument>(
      [&] {
        Tensor::from_memory(&one, {big, big}, float32);
      },
      "63 bits");
  EXPECT_EQ(Tensor::from_memory(nullptr, {0}, float32).size(), 0);
}

TEST(Tensor, IdentityIsThatOfTheHandle) {
  const Tensor a = to_tensor(1), b = to_tensor(1), c = a;
  EXPECT_EQ(a.id(), c.id());
  EXPECT_NE(a.id(), b.id());
  EXPECT_EQ(Tensor().id(), 0u);
}

TEST(Tensor, ThatDoNotFitAreRefusedAndTheProgramGoesOn) {
  const std::int64_t quadrillion = 1000000000000000;
  expect_error<errors::ResourceExhausted>(
      [&] { make_tensor(float32, TensorShape{quadrillion / 4}); }, "out of memory");
  expect_error<errors::ResourceExhausted>(
      [] { make_tensor(complex128, TensorShape{std::int64_t{1} << 62}); },
      "does not fit in the address space");
  // The bytes fit in 64 bits, but not when they are rounded up.
  const std::int64_t side = 2147483647;
  expect_error<errors::ResourceExhausted>(
      [&] {
        make_tensor(float32, TensorShape{side, side});
      },
      "does not fit in the address space");
  EXPECT_EQ(make_tensor(float32, TensorShape{4}).size(), 4);
}

TEST(Tensor, StringsOfAnySizeLiveInTensors) {
  const std::string large(1 << 20, 'x'), zeros("a\0b", 3);
  const Tensor t = of({large, zeros});
  EXPECT_EQ(t.to_vector<std::string>(), (std::vector<std::string>{large, zeros}));
  EXPECT_EQ(of({zeros}).to_string(), "[b'a\\x00b']");
}

TEST(Tensor, MemoryIsGivenBackAtOnce) {
  const std::size_t before = memory_stats().bytes_in_use;
  {
    const Tensor t = make_tensor(float32, TensorShape{1 << 20});
    EXPECT_GE(memory_stats().bytes_in_use, before + (4u << 20));
  }
  EXPECT_EQ(memory_stats().bytes_in_use, before);
}

}  // namespace
}  // namespace rill
