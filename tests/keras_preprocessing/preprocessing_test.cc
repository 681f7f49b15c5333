// Preprocessing layers beside Keras 2.15 and Keras 3: adapted to the same data, they give the same;
// the files of both are read. tools/keras_preprocessing.py made the goldens.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <fstream>

#include "rill/data/dataset.h"
#include "rill/eager/gradient_tape.h"
#include "rill/io/file.h"
#include "rill/keras/layers/layers.h"
#include "rill/keras/models/model.h"
#include "rill/keras/saving/saving.h"
#include "rill/ops/array_ops.h"
#include "rill/ops/math_ops.h"
#include "tests/scratch_folder.h"

namespace tf = rill;
namespace keras = rill::keras;
namespace layers = rill::keras::layers;
using keras::Config;
using tf::Nest;
using tf::Tensor;

namespace {

std::string goldens() {
  const char* source = std::getenv("RILL_SOURCE_DIR");
  return std::string(source ? source : ".") + "/tests/keras_preprocessing/goldens/";
}

Tensor tensor_of(const Config& c) {
  const tf::DType dtype = tf::DType::from_name(c["dtype"].as_string());
  if (dtype == tf::string) {
    std::vector<std::string> words;
    for (const Config& v : c["data"].items()) words.push_back(v.as_string());
    return tf::reshape(tf::constant(words, tf::string), c["shape"].as_shape());
  }
  std::vector<double> values;
  for (const Config& v : c["data"].items()) values.push_back(v.as_double());
  return tf::cast(tf::reshape(tf::constant(values, tf::float64), c["shape"].as_shape()), dtype);
}
Nest nest_of(const Config& c) {
  const std::string kind = c["kind"].as_string();
  if (kind == "ragged") {
    std::vector<Tensor> splits;
    for (const Config& s : c["splits"].items()) splits.push_back(tensor_of(s));
    return tf::RaggedTensor::from_nested_row_splits(tensor_of(c["values"]), splits);
  }
  if (kind == "sparse")
    return tf::SparseTensor(tensor_of(c["indices"]), tensor_of(c["values"]), tensor_of(c["shape"]));
  if (kind == "list") {
    std::vector<Nest> items;
    for (const Config& i : c["items"].items()) items.push_back(tensor_of(i));
    return Nest::make(std::move(items));
  }
  return tensor_of(c);
}

void expect_same(const Nest& got, const Nest& want, bool dtypes = true) {
  ASSERT_TRUE(got.same_structure(want)) << got.to_string() << " instead of " << want.to_string();
  const std::vector<Tensor> a = got.flatten(), b = want.flatten();
  for (std::size_t i = 0; i < a.size(); ++i) {
    ASSERT_EQ(a[i].shape(), b[i].shape());
    if (b[i].dtype() == tf::string) {
      EXPECT_EQ(a[i].to_vector<std::string>(), b[i].to_vector<std::string>());
      continue;
    }
    if (dtypes) {
      EXPECT_EQ(a[i].dtype(), b[i].dtype());
    }
    const auto x = tf::cast(a[i], tf::float64).to_vector<double>();
    const auto y = tf::cast(b[i], tf::float64).to_vector<double>();
    for (std::size_t k = 0; k < x.size(); ++k)
      ASSERT_NEAR(x[k], y[k], 2e-5 * std::max(1.0, std::abs(y[k]))) << "element " << k;
  }
}

void adapt(const keras::LayerRef& layer, const Config& c) {
  const std::string name = layer->class_name();
  const auto with = [&](auto adapt_to) {
    if (!c["adapt"].is_null()) adapt_to(tensor_of(c["adapt"]));
    if (c["batches"].is_null()) return;
    std::vector<Tensor> batches;
    for (const Config& b : c["batches"].items()) batches.push_back(tensor_of(b));
    std::size_t next = 0;
    adapt_to(tf::data::Dataset::range(static_cast<int>(batches.size()))
                 .map([batches, next](Tensor i) mutable {
                   return batches.at(static_cast<std::size_t>(i.item<int>()));
                 }));
  };
  const auto call = [&](auto* l) { with([&](const auto& data) { l->adapt(data); }); };
  if (auto text = layer.as<layers::TextVectorization>())
    call(text.get());
  else if (auto strings = layer.as<layers::StringLookup>())
    call(strings.get());
  else if (auto integers = layer.as<layers::IntegerLookup>())
    call(integers.get());
  else if (auto bins = layer.as<layers::Discretization>())
    call(bins.get());
  else
    ASSERT_TRUE(c["adapt"].is_null() && c["batches"].is_null()) << name;
}

Config vocabulary_of(const keras::LayerRef& layer) {
  if (auto text = layer.as<layers::TextVectorization>())
    return Config::list_of(text->get_vocabulary());
  if (auto strings = layer.as<layers::StringLookup>())
    return Config::list_of(strings->get_vocabulary());
  if (auto integers = layer.as<layers::IntegerLookup>())
    return Config::list_of(integers->get_vocabulary());
  return {};
}

// Before it was adapted, as the program writes it.
Config without_learnt(const Config& layer) {
  Config c = layer, config = layer["config"];
  if (layer["class_name"] == Config("Discretization") && config.get("num_bins").is_number())
    config.set("bin_boundaries", Config());
  c.set("config", config);
  return c;
}

void run_case(const Config& c, bool dtypes) {
  SCOPED_TRACE(c["name"].as_string());
  const keras::LayerRef layer = layers::deserialize(without_learnt(c["layer"]));
  adapt(layer, c);
  if (!c["vocabulary"].is_null()) {
    EXPECT_EQ(vocabulary_of(layer), c["vocabulary"]);
  }
  if (c["output"].is_null()) return;
  const Nest x = nest_of(c["input"]);
  const Nest y = layer->apply(x, {.training = c["training"].as_bool() ? 1 : 0});
  expect_same(y, nest_of(c["output"]), dtypes);
  // The configuration round trip.
  const Config own = layers::serialize(*layer);
  const keras::LayerRef again = layers::deserialize(Config::from_json(own.to_json()));
  EXPECT_EQ(again->get_config().get("output_mode"), layer->get_config().get("output_mode"));
  for (const std::string& key : c["layer"]["config"].keys()) {
    const Config& theirs = c["layer"]["config"][key];
    const bool off = theirs.is_null() || theirs == Config(false);
    if (off || !own["config"].contains(key) || key == "dtype" || key == "name") continue;
    if (key == "num_bins" || key == "bin_boundaries" || key == "factor" || key == "seed") continue;
    if (key == "salt" || key == "mask_value") continue;
    EXPECT_EQ(own["config"][key], theirs) << key;
  }
}

// Keras 3 gives numbers of other dtypes, of counts int64, of bins int32.
void run_file(const std::string& path, bool dtypes) {
  std::ifstream in(goldens() + path);
  ASSERT_TRUE(in) << path;
  std::string line;
  while (std::getline(in, line)) run_case(Config::from_json(line), dtypes);
}

// Layers on ragged and sparse tensors, with their gradients.
TEST(RaggedInputs, EqualKeras2) {
  std::ifstream in(goldens() + "ragged.jsonl");
  ASSERT_TRUE(in);
  std::string line;
  while (std::getline(in, line)) {
    const Config c = Config::from_json(line);
    SCOPED_TRACE(c["name"].as_string());
    const keras::LayerRef layer = layers::deserialize(c["layer"]);
    const Nest x = nest_of(c["input"]);
    layer->apply(x);
    std::vector<Tensor> weights;
    for (const Config& w : c["weights"].items()) weights.push_back(tensor_of(w));
    layer->set_weights(weights);
    tf::Gradients by_weight;
    {
      tf::GradientTape tape;
      const Nest y = layer->apply(x);
      expect_same(y, nest_of(c["output"]));
      const Tensor flat = y.is_composite() ? y.as_ragged().flat_values() : y.as_tensor();
      std::vector<double> ramp;
      for (std::int64_t i = 0; i < flat.size(); ++i)
        ramp.push_back(static_cast<double>((i * 7) % 11 - 5) / 8.0);
      const Tensor slopes = tf::cast(tf::reshape(tf::constant(ramp), flat.shape()), flat.dtype());
      if (!c["gradients"].items().empty())
        by_weight = tape.gradient(tf::reduce_sum(flat * slopes), layer->trainable_variables());
    }
    ASSERT_EQ(by_weight.size(), c["gradients"].items().size());
    for (std::size_t i = 0; i < by_weight.size(); ++i)
      expect_same(tf::convert_to_tensor(by_weight[i]), nest_of(c["gradients"].items()[i]));
  }
}

// A class of the program's takes ragged data.
TEST(RaggedInputs, FlowThroughAModelOfTheProgram) {
  struct Words : keras::Model {
    layers::Embedding embedding{6, 4};
    layers::LSTM lstm{3};
    layers::Dense dense{1};
    Words() { track("embedding", embedding), track("lstm", lstm), track("dense", dense); }
    Nest call_nest(const Nest& x, const keras::CallContext&) override {
      return dense(lstm(embedding(x.as_ragged())).as_tensor());
    }
  };
  Words model;
  const auto rows = tf::ragged::constant({{1, 2, 3}, {4}, {5, 5}, {1, 0}}, tf::int64);
  tf::GradientTape tape;
  const Tensor y = model.apply(rows).as_tensor();
  EXPECT_EQ(y.shape(), tf::TensorShape({4, 1}));
  const tf::Gradients g = tape.gradient(tf::reduce_sum(y), model.trainable_variables());
  EXPECT_EQ(g.size(), 6u);
  for (std::size_t i = 0; i < g.size(); ++i) EXPECT_TRUE(tf::convert_to_tensor(g[i]).defined());
}

TEST(KerasPreprocessing, EqualsKeras2) { run_file("keras2.jsonl", true); }
TEST(KerasPreprocessing, EqualsKeras3) { run_file("keras3.jsonl", false); }

// What Keras wrote is read; what is written again is read, too, by Keras where the script asks.
class Files : public ::testing::TestWithParam<int> {};
TEST_P(Files, HoldWhatWasLearnt) {
  const std::string name = "keras" + std::to_string(GetParam());
  const char* given = std::getenv("RILL_PREPROCESSING_OUT");
  const std::string folder =
      given ? std::string(given) : tf::testing::fresh_folder("preprocessing" + name);
  std::ifstream in(goldens() + name + "_files.jsonl");
  ASSERT_TRUE(in);
  std::ofstream out(folder + "/" + name + ".jsonl");
  std::string line;
  while (std::getline(in, line)) {
    const Config c = Config::from_json(line);
    const std::string file = name + "_" + c["file"].as_string() + ".keras";
    SCOPED_TRACE(file);
    const keras::Model model = keras::models::load_model(goldens() + file);
    const Nest want = nest_of(c["output"]);
    expect_same(model(tensor_of(c["input"])), want, false);
    model.save(folder + "/" + file, {.keras_version = GetParam()});
    const keras::Model again = keras::models::load_model(folder + "/" + file);
    expect_same(again(tensor_of(c["input"])), want, false);
    out << line << "\n";
  }
}
INSTANTIATE_TEST_SUITE_P(OfBoth, Files, ::testing::Values(2, 3));

}  // namespace
