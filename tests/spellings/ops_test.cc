// Lines that people write who come from Python: each compiles, and does what the Python line does.
#include <gtest/gtest.h>

#include <map>

#include "rill/rill.h"
#include "tests/expect_error.h"
#include "tests/scratch_folder.h"

namespace tf = rill;
using rill::testing::expect_error;
using tf::Tensor;

namespace {

using Floats = std::vector<float>;
using Ints = std::vector<int>;
using Texts = std::vector<std::string>;

Tensor table() { return tf::reshape(tf::range(12, tf::float32), {3, 4}); }

TEST(Spellings, SlicesEndAtTensors) {
  const Tensor x = table(), n = tf::constant(2), back = tf::constant(-1);
  EXPECT_EQ(x(tf::all, tf::slice(tf::None, n)).to_vector<float>(), (Floats{0, 1, 4, 5, 8, 9}));
  EXPECT_EQ(x(tf::slice(n, tf::None), 0).to_vector<float>(), (Floats{8}));
  EXPECT_EQ(x(0, tf::slice(1, back)).to_vector<float>(), (Floats{1, 2}));
  EXPECT_EQ(x(0, tf::slice(n, n)).size(), 0);
  EXPECT_EQ(x(0, tf::slice(tf::None, tf::None, back)).to_vector<float>(), (Floats{3, 2, 1, 0}));
  EXPECT_EQ(x(0, tf::slice(0, tf::constant(4, tf::int64), 2)).to_vector<float>(), (Floats{0, 2}));
  EXPECT_EQ(x(0, tf::slice(tf::Variable(3), tf::None)).to_vector<float>(), (Floats{3}));
  EXPECT_EQ(tf::slice(x, {0, 1}, {1, 2}).to_vector<float>(), (Floats{1, 2}));  // the op
  expect_error<tf::errors::InvalidArgument>([&] { x(tf::slice(tf::None, x)); }, "dtype float32");
  expect_error<tf::errors::InvalidArgument>([&] { x(tf::slice(tf::None, tf::constant({1}))); },
                                            "shape [1]");
}

TEST(Spellings, SlicesEndAtTensorsOfATrace) {
  auto f = tf::function([](Tensor x, Tensor n) {
    return tf::tuple(x(tf::all, tf::slice(tf::None, n)), x(0, tf::slice(n, tf::None, -1)),
                     x(tf::slice(tf::None, tf::shape(x)[0] - 1), 0),
                     x(0, tf::slice(tf::None, tf::None, n)));
  });
  for (int n : {1, 2}) {
    const tf::Nest y = f(table(), n);
    EXPECT_EQ(y[0].shape(), tf::TensorShape({3, n}));
    EXPECT_EQ(y[1].as_tensor().size(), n + 1);
    EXPECT_EQ(y[2].to_vector<float>(), (Floats{0, 4}));
    EXPECT_EQ(y[3].as_tensor().size(), n == 1 ? 4 : 2);
  }
  EXPECT_EQ(f.trace_count(), 1);
}

TEST(Spellings, GradientsGoThroughSlicesOfATrace) {
  auto f = tf::function([](Tensor x, Tensor n) {
    tf::GradientTape tape;
    tape.watch(x);
    const Tensor y = tf::reduce_sum(x(tf::slice(tf::None, n)) * 2.f);
    return tape.gradient(y, x);
  });
  const Tensor g = f(tf::ones({3}), 2);
  EXPECT_EQ(g.to_vector<float>(), (Floats{2, 2, 0}));
}

TEST(Spellings, VariablesAreIndexedAsTensors) {
  const tf::Variable v(table());
  EXPECT_EQ(v(0, tf::all).to_vector<float>(), (Floats{0, 1, 2, 3}));
  EXPECT_EQ(v(tf::ellipsis, 1).to_vector<float>(), (Floats{1, 5, 9}));
}

TEST(Spellings, SizesOfAShapeAreNumbers) {
  const Tensor x = table();
  const tf::TensorShape s = x.shape();
  EXPECT_EQ(tf::zeros({s[0], 2}).shape(), tf::TensorShape({3, 2}));
  EXPECT_EQ(tf::reshape(x, {s[0] * s[1]}).shape(), tf::TensorShape({12}));
  EXPECT_EQ(tf::reshape(x, {-1, s[0]}).shape(), tf::TensorShape({4, 3}));
  EXPECT_EQ(s[0] * s[1] - s[0], 9);
  EXPECT_EQ(s[0] + 1, 4);
  EXPECT_TRUE(s[0] < s[1] && s[1] >= 4);
  EXPECT_EQ(-s[0], -3);
  EXPECT_EQ(tf::eye(s[-1]).shape(), tf::TensorShape({4, 4}));
  EXPECT_EQ((x / s[1])(0, 2).item<float>(), 0.5f);
  EXPECT_EQ(x(s[0] - 1, 0).item<float>(), 8);
  expect_error<tf::errors::FailedPrecondition>(
      [] {
        tf::zeros({tf::TensorShape({tf::None})[0], 2});
      },
      "");
}

TEST(Spellings, RowsOfRaggedTensors) {
  const auto rt = tf::ragged::constant({{3, 1}, {}, {5, 9, 2}});
  EXPECT_EQ(rt(2, 0).item<int>(), 5);
  EXPECT_EQ(rt(-1, -1).item<int>(), 2);
  const Tensor row = rt(0), backwards = rt(0, tf::slice(tf::None, tf::None, -1));
  EXPECT_EQ(row.to_vector<int>(), (Ints{3, 1}));
  EXPECT_EQ(backwards.to_vector<int>(), (Ints{1, 3}));
  EXPECT_EQ(rt(tf::all, tf::slice(tf::None, tf::constant(1))).to_string(), "[[3], [], [5]]");
  const auto deep = tf::ragged::constant({{{1, 2}, {3}}, {{4}}});
  EXPECT_EQ(deep(0, 0).to_vector<int>(), (Ints{1, 2}));
  EXPECT_EQ(deep(0, 1, 0).item<int>(), 3);
  EXPECT_EQ(deep(1).to_string(), "[[4]]");
  expect_error<tf::errors::OutOfRange>([&] { rt(3, 0); }, "row 3 of 3 rows");
  expect_error<tf::errors::InvalidArgument>([&] { static_cast<void>(Tensor(rt)); },
                                            "use to_tensor()");
}

TEST(Spellings, StringsOfRaggedTensors) {
  const auto words = tf::strings::split({"a dog", "", "b"});
  EXPECT_EQ(tf::strings::length(words).to_string(), "[[1, 3], [], [1]]");
  EXPECT_EQ(tf::strings::upper(words).to_list<std::string>(),
            (std::vector<Texts>{{"A", "DOG"}, {}, {"B"}}));
  EXPECT_EQ(tf::strings::reduce_join(words, 1, {.separator = "_"}).to_vector<std::string>(),
            (Texts{"a_dog", "", "b"}));
  EXPECT_EQ(tf::strings::reduce_join(words, -1).to_vector<std::string>(), (Texts{"adog", "", "b"}));
  EXPECT_EQ(tf::strings::reduce_join(words, {.separator = " "}).item<std::string>(), "a dog b");
  auto joined = tf::function([](Tensor lines) {
    return tf::strings::reduce_join(tf::strings::split(lines), 1, {.separator = "+"});
  });
  EXPECT_EQ(joined(tf::constant({"x y z", "q"})).to_vector<std::string>(), (Texts{"x+y+z", "q"}));
  EXPECT_EQ(tf::strings::split({"a b c d"}, {.maxsplit = 2}).to_list<std::string>(),
            (std::vector<Texts>{{"a", "b", "c d"}}));
  EXPECT_EQ(tf::strings::split("a,b,c", {.sep = ",", .maxsplit = 1}).values().size(), 2);
  EXPECT_EQ(tf::strings::split("a,b,c", ",").values().size(), 3);
  EXPECT_EQ(tf::strings::to_number(tf::strings::split({"1 2"}), tf::int32).to_string(), "[[1, 2]]");
}

TEST(Spellings, OptionsStandWherePythonHasKeywords) {
  const Tensor x = tf::constant({{3.f, 4.f}, {6.f, 8.f}});
  EXPECT_EQ(tf::eye(3, {.dtype = tf::float64}).dtype(), tf::float64);
  EXPECT_EQ(tf::eye(tf::shape(x)[1]).shape(), tf::TensorShape({2, 2}));
  EXPECT_EQ(tf::pad({1, 2, 3}, {{1, 1}}, "REFLECT").to_vector<int>(), (Ints{2, 1, 2, 3, 2}));
  EXPECT_EQ(tf::pad({1}, {{1, 0}}, "CONSTANT", -1).to_vector<int>(), (Ints{-1, 1}));
  EXPECT_EQ(tf::norm(x, {.axis = -1}).to_vector<float>(), (Floats{5, 10}));
  EXPECT_EQ(tf::norm(x, {.axis = {-1}, .keepdims = true}).shape(), tf::TensorShape({2, 1}));
  EXPECT_EQ(tf::range(3, tf::float32).to_vector<float>(), (Floats{0, 1, 2}));
  EXPECT_EQ(tf::boolean, tf::bool_);
  EXPECT_EQ(tf::math::softplus(0.f).item<float>(), tf::nn::softplus(0.f).item<float>());
  EXPECT_EQ(tf::math::softsign(1.f).item<float>(), 0.5f);
  EXPECT_EQ(tf::math::reciprocal_no_nan({0.f, 4.f}).to_vector<float>(), (Floats{0, 0.25f}));
}

TEST(Spellings, SeedsByName) {
  tf::random::set_seed(3);
  const auto a = tf::random::categorical({{0.f, 1.f, 2.f}}, 8, {.dtype = tf::int32, .seed = 4});
  const auto b = tf::random::shuffle(tf::range(9), {.seed = 2});
  tf::random::set_seed(3);
  EXPECT_EQ(a.dtype(), tf::int32);
  EXPECT_EQ(a.to_vector<int>(),
            tf::random::categorical({{0.f, 1.f, 2.f}}, 8, tf::int32, 4).to_vector<int>());
  EXPECT_EQ(b.to_vector<int>(), tf::random::shuffle(tf::range(9), 2).to_vector<int>());
  const auto one = tf::random::Generator::from_seed(1), other = tf::random::Generator::from_seed(1);
  EXPECT_EQ(one.uniform({4}, {.minval = -3, .maxval = 9, .dtype = tf::int32}).to_vector<int>(),
            other.uniform_int({4}, -3, 9).to_vector<int>());
  EXPECT_EQ(one.uniform({2}, {.dtype = tf::int64}).to_vector<std::int64_t>(),
            other.uniform_full_int({2}, tf::int64).to_vector<std::int64_t>());
  EXPECT_EQ(one.uniform({2}, {.maxval = 5.0}).to_vector<float>(),
            other.uniform({2}, 0, 5).to_vector<float>());
  expect_error<tf::errors::InvalidArgument>(
      [&] { one.uniform({2}, {.minval = 1, .dtype = tf::int32}); }, "there is no maxval");
}

TEST(Spellings, FunctionsReturnGradients) {
  auto all = tf::function([](Tensor x) {
    tf::GradientTape tape;
    tape.watch(x);
    const Tensor y = x * x;
    return tape.gradient(y, {x});
  });
  const tf::Gradients g = all(3.f);
  ASSERT_EQ(g.size(), 1u);
  EXPECT_EQ(g[0].item<float>(), 6);
  auto both = tf::function([](Tensor x) {
    tf::GradientTape tape;
    tape.watch(x);
    const Tensor y = x * x;
    return std::pair(tape.gradient(y, {x}), y);
  });
  const auto [slopes, value] = both(3.f);
  EXPECT_EQ(slopes[0].item<float>(), 6);
  EXPECT_EQ(value.item<float>(), 9);
  auto one = tf::function([](Tensor x) {
    tf::GradientTape tape;
    tape.watch(x);
    const Tensor y = x * x;
    return std::tuple(tape.gradient(y, x), y);
  });
  EXPECT_EQ(std::get<0>(one(2.f)).item<float>(), 4);
  EXPECT_EQ(tf::hessians([](Tensor x) { return x * x * x; }, 2.f)[0].item<float>(), 12);
}

TEST(Spellings, NestsOfTensors) {
  const Tensor x = tf::constant(2.f);
  const tf::Nest s = tf::dict({{"a", x}, {"b", tf::tuple(x, 3.f)}});
  const tf::Nest y = tf::nest::map_structure([](Tensor t) { return t * 2.f; }, s);
  EXPECT_EQ(y["b"][1].item<float>(), 6);
  EXPECT_EQ(
      tf::nest::map_structure([](Tensor a, Tensor b) { return a + b; }, s, y)["a"].item<float>(),
      6);
  EXPECT_EQ(tf::nest::flatten(s).size(), 3u);
  EXPECT_EQ(tf::nest::pack_sequence_as(s, {x, x, x})["b"][1].item<float>(), 2);
  EXPECT_TRUE(tf::nest::is_nested(s));
  expect_error<tf::errors::InvalidArgument>([&] { tf::nest::pack_sequence_as(s, {x}); },
                                            "got 1 tensors for a structure of 3");
  expect_error<tf::errors::InvalidArgument>(
      [&] { tf::nest::assert_same_structure(s, tf::tuple(x)); }, "the structures differ");
}

TEST(Spellings, ArraysOfAFileByName) {
  const std::string path = rill::testing::fresh_folder("npz") + "/two.npz";
  tf::io::save_npz(path, {{"a", tf::ones({2})}, {"b", tf::zeros({3})}});
  EXPECT_EQ(tf::io::load_npz(path)["b"].shape(), tf::TensorShape({3}));
  const auto arrays = tf::io::load_npz(path);
  EXPECT_EQ(arrays[0].first, "a");
  EXPECT_EQ(arrays.files(), (Texts{"a", "b"}));
  expect_error<tf::errors::NotFound>([&] { arrays["c"]; }, "there is no array \"c\"");
}

TEST(Spellings, Datasets) {
  const auto ds = tf::data::Dataset::range(5).map([](Tensor n) { return tf::range(n); });
  std::vector<tf::TensorShape> shapes;
  for (auto& e : ds.padded_batch(2, {.drop_remainder = true})) shapes.push_back(e.shape());
  EXPECT_EQ(shapes, (std::vector<tf::TensorShape>{{2, 1}, {2, 3}}));
  const auto filled = ds.padded_batch(2, {.padding_values = tf::constant(-1, tf::int64)});
  EXPECT_EQ(filled.make_iterator().next().to_vector<int>(), (Ints{-1, 0}));
  const auto pairs = tf::data::Dataset::range(2).map(
      [](Tensor n) { return tf::tuple(tf::fill({n}, 1), tf::fill({n}, "x")); });
  auto it = pairs.padded_batch(2, {.padding_values = tf::tuple(7, "y")}).make_iterator();
  const tf::Nest e = it.next();
  EXPECT_EQ(e[0].to_vector<int>(), (Ints{7, 1}));
  EXPECT_EQ(e[1].to_vector<std::string>(), (Texts{"y", "x"}));
  auto mixed = tf::data::Dataset::range(2).interleave(
      [](Tensor n) { return tf::data::Dataset::from_tensors(n); },
      {.cycle_length = 2, .num_parallel_calls = 2, .deterministic = false});
  EXPECT_EQ(mixed.as_vector().size(), 2u);
  auto last = tf::data::Dataset::range(1).make_iterator();
  EXPECT_EQ(last.get_next_as_optional().get_value().item<int>(), 0);
  const auto none = last.get_next_as_optional();
  EXPECT_FALSE(none.has_value());
  expect_error<tf::errors::InvalidArgument>([&] { none.get_value(); }, "no value");
}

TEST(Spellings, KeywordsBehindPositions) {
  const Tensor x = table(), labels = tf::constant({0, 1, 1});
  EXPECT_EQ(tf::argmax(x, 1, {.output_type = tf::int32}).dtype(), tf::int32);
  EXPECT_EQ(tf::argmax(x, 1, {.output_type = tf::int32}).to_vector<int>(), (Ints{3, 3, 3}));
  EXPECT_EQ(tf::argmin(x, 1, {.output_type = tf::int32}).to_vector<int>(), (Ints{0, 0, 0}));
  EXPECT_EQ(tf::math::confusion_matrix(labels, labels, 3).to_vector<int>(),
            (Ints{1, 0, 0, 0, 2, 0, 0, 0, 0}));
}
TEST(Spellings, ZipOfDatasets) {
  using tf::data::Dataset;
  const Dataset a = Dataset::range(2), b = Dataset::range(5, 8);
  std::vector<std::int64_t> seen;
  for (const tf::Nest& e : Dataset::zip(a, b, a))
    for (const Tensor& t : e.flatten()) seen.push_back(t.item<std::int64_t>());
  EXPECT_EQ(seen, (std::vector<std::int64_t>{0, 5, 0, 1, 6, 1}));
}

TEST(Spellings, DatasetsOfLiterals) {
  using tf::data::Dataset;
  std::vector<int> whole;
  for (const tf::Nest& e : Dataset::from_tensor_slices({1, 2, 3})) whole.push_back(e.item<int>());
  EXPECT_EQ(whole, (Ints{1, 2, 3}));
  Floats broken;
  for (const tf::Nest& e : Dataset::from_tensor_slices({0.5, 1.5}))
    broken.push_back(e.item<float>());
  EXPECT_EQ(broken, (Floats{0.5, 1.5}));
  Texts texts;
  for (const tf::Nest& e : Dataset::from_tensor_slices({"a", "bc"}))
    texts.push_back(e.item<std::string>());
  EXPECT_EQ(texts, (Texts{"a", "bc"}));
  const Tensor x = table(), y = tf::range(3);
  EXPECT_EQ(Dataset::from_tensor_slices({x, y}).make_iterator().next().size(), 2u);
}
TEST(Spellings, DictsOfMapsAndPop) {
  const std::map<std::string, Tensor> columns{{"a", table()}, {"b", tf::range(3)}};
  tf::Nest row = tf::dict(columns);
  EXPECT_EQ(row.keys(), (Texts{"a", "b"}));
  EXPECT_EQ(row.pop("b").to_vector<int>(), (Ints{0, 1, 2}));
  EXPECT_EQ(row.keys(), (Texts{"a"}));
  expect_error<tf::errors::NotFound>([&] { row.pop("b"); }, "\"a\"");
  EXPECT_EQ(row.keys(), (Texts{"a"}));
}

TEST(Spellings, OptionsBehindWhatIsRequired) {
  EXPECT_EQ(tf::random::normal({2, 3}, {.dtype = tf::float64}).dtype(), tf::float64);
  EXPECT_EQ(tf::random::uniform({4}, {.seed = 3}).shape(), tf::TensorShape({4}));
  const Tensor image = tf::fill({4, 4, 3}, 2.f);
  EXPECT_EQ(tf::image::resize(image, {8, 8}, {.method = "nearest"}).shape(),
            tf::TensorShape({8, 8, 3}));
  EXPECT_EQ(
      tf::image::convert_image_dtype(image, tf::uint8, {.saturate = true})(0, 0, 0).item<int>(),
      255);
  EXPECT_EQ(tf::math::l2_normalize(tf::constant({3.f, 4.f}), 0).to_vector<float>(),
            tf::nn::l2_normalize(tf::constant({3.f, 4.f}), 0).to_vector<float>());
  const auto first = [](const tf::data::Dataset& d) {
    return d.make_iterator().next().item<std::int64_t>();
  };
  EXPECT_EQ(first(tf::data::Dataset::random({.seed = 4})), first(tf::data::Dataset::random(4)));
}

}  // namespace
