// Lists and maps of layers as members of a model. Names in files are those of Keras 2.15.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>

#include "rill/rill.h"
#include "tests/checkpoint_files.h"
#include "tests/keras_samples.h"

namespace tf = rill;
namespace keras = rill::keras;
namespace layers = rill::keras::layers;
using tf::Tensor;
using tf::testing::expect_near, tf::testing::sample;

namespace {

struct Blocks : keras::Model {
  std::vector<layers::Dense> blocks;
  std::vector<keras::LayerRef> mixed{layers::Dense(3), layers::LayerNormalization()};
  std::map<std::string, layers::Dense> heads{{"a", layers::Dense(2)}, {"b", layers::Dense(1)}};
  explicit Blocks(int depth = 2) {
    for (int i = 0; i < depth; ++i)
      blocks.emplace_back(3, layers::DenseOptions{.activation = "tanh"});
    track("blocks", blocks);
    track("mixed", mixed);
    track("heads", heads);
  }
  Tensor call(const Tensor& x, const keras::CallContext&) override {
    Tensor h = x;
    for (const layers::Dense& b : blocks) h = b(h);
    for (const keras::LayerRef& m : mixed) h = (*m)(h);
    return heads.at("a")(h) * heads.at("b")(h);
  }
};

const Tensor x = sample({5, 3});

TEST(TrackedLists, AreTrained) {
  Blocks m;
  m(x);
  EXPECT_EQ(m.weights().size(), 12u);
  EXPECT_EQ(m.sublayers().size(), 6u);
  m.compile({.optimizer = "sgd", .loss = "mse"});
  const std::vector<Tensor> before = m.get_weights();
  m.fit(x, tf::ones({5, 2}), {.epochs = 2, .verbose = 0});
  const std::vector<Tensor> after = m.get_weights();
  for (std::size_t i = 0; i < after.size(); ++i)
    EXPECT_NE(after[i].to_vector<float>(), before[i].to_vector<float>()) << i;
}

TEST(TrackedLists, AreInCheckpoints) {
  const std::string folder = rill::saving_tests::fresh_folder("tracked_lists");
  Blocks m;
  const Tensor want = m(x);
  m.save_weights(folder + "/c");
  const auto names = tf::train::load_checkpoint(folder + "/c").get_variable_to_shape_map();
  for (const char* name : {"blocks/0/kernel", "blocks/1/bias", "mixed/1/gamma", "heads/a/kernel"})
    EXPECT_EQ(names.count(std::string(name) + "/.ATTRIBUTES/VARIABLE_VALUE"), 1u) << name;
  Blocks built, later;
  built(x);
  built.load_weights(folder + "/c");
  expect_near(built(x), want);
  later.load_weights(folder + "/c");  // whose layers have no weights yet
  expect_near(later(x), want);
}

TEST(TrackedLists, AreInWeightFiles) {
  const std::string folder = rill::saving_tests::fresh_folder("tracked_list_weights");
  Blocks m;
  const Tensor want = m(x);
  for (const char* name : {"/w.h5", "/w.weights.h5"}) {
    m.save_weights(folder + name);
    Blocks n;
    n(x);
    n.load_weights(folder + name);
    expect_near(n(x), want);
  }
}

struct Grows : keras::Model {
  std::vector<layers::Dense> blocks;
  void grow() {
    blocks.emplace_back(3);
    track("blocks", blocks);
  }
  Tensor call(const Tensor& t, const keras::CallContext&) override {
    Tensor h = t;
    for (const layers::Dense& b : blocks) h = b(h);
    return h;
  }
};
TEST(TrackedLists, MayBeToldAnew) {
  Grows m;
  m.grow();
  m(x);
  EXPECT_EQ(m.weights().size(), 2u);
  m.grow();
  m(x);
  EXPECT_EQ(m.weights().size(), 4u);
  EXPECT_EQ(m.sublayers().size(), 2u);
}

}  // namespace
