// One object for one layer: containers share a copy, drawn models call it live, files give the
// user's class back.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <thread>

#include "rill/rill.h"
#include "tests/checkpoint_files.h"
#include "tests/expect_error.h"
#include "tests/keras_samples.h"

namespace tf = rill;
namespace keras = rill::keras;
namespace layers = rill::keras::layers;
using rill::saving_tests::fresh_folder;
using testing::ElementsAre, testing::HasSubstr;
using tf::Nest, tf::Tensor;
using tf::testing::expect_error, tf::testing::expect_near, tf::testing::sample, tf::testing::values;

namespace {

const Tensor x = sample({5, 3});

struct MLP : keras::Model {
  layers::Dense a{4}, b{2};
  MLP() {
    track("a", a);
    track("b", b);
  }
  Tensor call(const Tensor& v, const keras::CallContext&) override { return b(a(v)); }
};
struct Linear : layers::Layer {
  int units;
  tf::Variable w;
  explicit Linear(int units) : units(units) {}
  void build(const tf::TensorShape& s) override { w = add_weight("w", {s[-1], units}); }
  Tensor call(const Tensor& v, const keras::CallContext&) override { return tf::matmul(v, w); }
};

// ---- containers
TEST(LayerObject, AContainerSharesTheWeights) {
  MLP m;
  keras::Sequential s({m});
  s(x);
  EXPECT_EQ(m.variables().size(), 4u);
  EXPECT_EQ(values(m(x)), values(s(x)));
}

TEST(LayerObject, AllContainersHoldTheSameCopy) {
  Linear l(2);
  keras::Sequential first({l}), second({l});
  first(x);
  const auto a = first.get_layer(0).as<Linear>(), b = second.get_layer(0).as<Linear>();
  ASSERT_TRUE(a);
  EXPECT_EQ(a, b);
  EXPECT_NE(a.get(), &l);
  EXPECT_EQ(values(second(x)), values(first(x)));
  // The object on the stack learns its members when it is called.
  EXPECT_FALSE(l.w.defined());
  EXPECT_EQ(values(l(x)), values(first(x)));
  EXPECT_EQ(l.w.id(), a->w.id());
}

TEST(LayerObject, ASharedPointerIsHeldAsItIs) {
  const auto l = std::make_shared<Linear>(2);
  keras::Sequential s({l});
  s(x);
  EXPECT_EQ(s.get_layer(0).as<Linear>(), l);
  EXPECT_TRUE(l->w.defined());
  const Tensor in = keras::Input({3});
  const keras::Model drawn(in, (*l)(in));
  EXPECT_EQ(drawn.get_layer(1).as<Linear>(), l);
  EXPECT_EQ(values(drawn(x)), values(s(x)));
  expect_error<tf::errors::InvalidArgument>([] { keras::Sequential({std::shared_ptr<Linear>()}); },
                                            "null pointer");
}

TEST(LayerObject, AHandleKeepsTheObjectHoweverItCameToIt) {
  keras::Layer assigned = layers::Dense(1);
  Tensor before;
  {
    const auto l = std::make_shared<Linear>(2);
    before = (*l)(x);
    const keras::Layer handle = *l;
    assigned = handle;
  }
  EXPECT_EQ(values(assigned(x)), values(before));
  const keras::Layer copied = assigned;
  assigned = layers::Dense(1);
  EXPECT_EQ(values(copied(x)), values(before));
}

struct Unique : layers::Layer {
  std::unique_ptr<float> factor = std::make_unique<float>(3.f);
  Tensor call(const Tensor& v, const keras::CallContext&) override { return v * *factor; }
};
TEST(LayerObject, AClassThatCannotBeCopied) {
  static_assert(!std::is_copy_constructible_v<Unique>);
  const keras::Sequential s({std::make_shared<Unique>()});
  EXPECT_EQ(values(s(x)), values(x * 3.f));
  const keras::Sequential moved({Unique()});  // a temporary moves in
  EXPECT_EQ(values(moved(x)), values(x * 3.f));
}

TEST(LayerObject, AReferenceToABaseKeepsTheClass) {
  Linear l(2);
  const keras::Layer& as_layer = l;
  const keras::Sequential s({as_layer});
  EXPECT_EQ(s(x).shape(), (tf::TensorShape{5, 2}));
  // A handle does what the object does.
  const keras::Layer handle = l;
  EXPECT_EQ(values(handle(x)), values(l(x)));
  EXPECT_EQ(handle.class_name(), "Linear");
}

// ---- a namespace of the library's name is the user's, too
}  // namespace
namespace rill_users::rill {
struct Halves : layers::Layer {
  Tensor call(const Tensor& v, const keras::CallContext&) override { return v / 2.f; }
};
}  // namespace rill_users::rill
namespace rill {
struct OfAUser : keras::layers::Layer {
  Tensor call(const Tensor& v, const keras::CallContext&) override { return v + 1.f; }
};
}  // namespace rill
namespace {

TEST(LayerObject, AClassInANamespaceRillIsTheUsers) {
  EXPECT_EQ(values(rill::OfAUser()(x)), values(x + 1.f));
  EXPECT_EQ(rill::OfAUser().class_name(), "OfAUser");
  keras::Sequential s({rill::OfAUser(), rill_users::rill::Halves()});
  EXPECT_EQ(values(s(x)), values((x + 1.f) / 2.f));
}

// ---- drawn models
struct Counts : layers::Layer {
  int calls = 0;
  float factor = 2;
  Tensor call(const Tensor& v, const keras::CallContext&) override {
    ++calls;
    return v * factor;
  }
};

TEST(LayerObject, ADrawnModelCallsTheObject) {
  Counts c;
  const Tensor in = keras::Input({3});
  const keras::Model m(in, c(in));
  const int drawn = c.calls;
  m(x), m(x);
  EXPECT_EQ(c.calls, drawn + 2);
  c.factor = 5;  // a field that the program changes counts, as in Python
  EXPECT_EQ(values(m(x)), values(x * 5.f));
}

keras::Model drawn_elsewhere() {
  Linear l(2);  // gone when the function returns
  const Tensor in = keras::Input({3});
  return {in, l(in)};
}
TEST(LayerObject, ADrawnModelKeepsAnObjectThatIsGone) {
  const keras::Model m = drawn_elsewhere();
  EXPECT_EQ(m(x).shape(), (tf::TensorShape{5, 2}));
  ASSERT_TRUE(m.get_layer(1).as<Linear>());
  EXPECT_EQ(m.get_layer(1).as<Linear>()->units, 2);
  // A temporary object, too.
  const Tensor in = keras::Input({3});
  const keras::Model n(in, Linear(4)(in));
  EXPECT_EQ(n(x).shape(), (tf::TensorShape{5, 4}));
  EXPECT_EQ(n.get_layer(1).as<Linear>()->units, 4);
}

struct Twice : layers::Layer {
  layers::BatchNormalization first, second;
  Twice() {
    track("first", first);
    track("second", second);
  }
  Tensor call(const Tensor& v, const keras::CallContext&) override { return second(first(v)); }
};
TEST(LayerObject, FreezingAPartOfADrawnOneAfterwards) {
  Twice l;
  const Tensor in = keras::Input({3});
  keras::Model m(in, l(in));
  const auto mean = [](const layers::BatchNormalization& b) { return values(b.weights()[2]); };
  m(x, {.training = 1});
  l.first.set_trainable(false);
  const std::vector<float> first = mean(l.first), second = mean(l.second);
  m(x, {.training = 1});
  EXPECT_EQ(mean(l.first), first);
  EXPECT_NE(mean(l.second), second);
}

struct AnyMask : layers::Layer {
  Tensor call(const Tensor& v, const keras::CallContext& context) override {
    return context.mask.defined() ? v * 10.f : v;
  }
};
TEST(LayerObject, MasksOfAnyKindReachADrawnOne) {
  AnyMask l;
  const Tensor in = keras::Input({3});
  const keras::Model m(in, l(in));
  EXPECT_EQ(values(m(x)), values(x));
  // A mask of a whole sample, which nobody foresaw when the model was drawn.
  const keras::Model masked(in, l(in, {.mask = tf::constant(true)}));
  EXPECT_EQ(values(masked(x)), values(x * 10.f));
}

TEST(LayerObject, AVariableInAPlainOpIsReadLive) {
  const tf::Variable v({1.f, 2.f, 3.f}), bias(.5f);
  const Tensor in = keras::Input({3});
  keras::Model m(in, tf::concat({in * v + bias, in}, -1));
  expect_near(m(x), tf::concat({x * v.value() + .5f, x}, -1));
  v.assign({0.f, 1.f, 0.f});
  bias.assign(0.f);
  expect_near(m(x), tf::concat({x * v.value(), x}, -1));
  EXPECT_TRUE(m.weights().empty());  // as in Keras: read, not trained
  expect_near(m.predict(x, {.verbose = 0}), m(x));
  v.assign({1.f, 1.f, 1.f});
  expect_near(m.predict(x, {.verbose = 0}), m(x));
  expect_error<tf::errors::Unimplemented>([&] { m.to_json(); }, "variable");
}

TEST(LayerObject, AVariableIsReadLiveByEveryOp) {
  const tf::Variable table({{1.f}, {2.f}, {3.f}}), limit(2.f), which(tf::constant({0, 2}));
  const Tensor ids = keras::Input({2}, {.dtype = tf::int32});
  const Tensor numbers = keras::Input({3});
  const keras::Model picked(ids, tf::nn::embedding_lookup(table, ids));
  const keras::Model gathered(ids, table.gather(ids));
  const keras::Model clipped(numbers, tf::clip_by_value(numbers, 0, limit));
  const keras::Model chosen(numbers, tf::gather(numbers, which, 1));
  const keras::Model where(numbers, tf::where(numbers > limit, limit, numbers));
  const Tensor places = tf::constant({{2, 0}}), some = tf::constant({{-1.f, 2.5f, 9.f}});
  for (const float factor : {1.f, 10.f}) {
    table.assign(tf::constant({{1.f}, {2.f}, {3.f}}) * factor);
    limit.assign(2 * factor);
    which.assign(factor == 1 ? tf::constant({0, 2}) : tf::constant({1, 1}));
    EXPECT_EQ(values(picked(places)), (std::vector<float>{3 * factor, factor}));
    EXPECT_EQ(values(gathered(places)), values(picked(places)));
    EXPECT_EQ(values(clipped(some)), values(tf::clip_by_value(some, 0, 2 * factor)));
    EXPECT_EQ(values(chosen(some)),
              (factor == 1 ? std::vector<float>{-1, 9} : std::vector<float>{2.5f, 2.5f}));
    EXPECT_EQ(values(where(some)), values(tf::minimum(some, 2 * factor)));
  }
  // Whoever watches the variable has its gradient.
  tf::GradientTape tape;
  const Tensor loss = tf::reduce_sum(picked(places));
  EXPECT_EQ(values(tf::Tensor(tape.gradient(loss, table))), (std::vector<float>{1, 0, 1}));
}

// ---- one object, as in Python
struct Scale : layers::Layer {
  float factor = 2;
  Tensor call(const Tensor& v, const keras::CallContext&) override { return v * factor; }
};
struct Doubled : layers::Dense {
  explicit Doubled(int units) : layers::Dense(units, {.kernel_initializer = "ones"}) {}
  Tensor call(const Tensor& v, const keras::CallContext& c) override {
    return layers::Dense::call(v, c) * 2.f;
  }
};

TEST(LayerObject, FieldsCountAsTheyAreWhenItIsPutIntoAContainer) {
  Scale s;
  const Tensor in = keras::Input({3});
  const keras::Model m(in, s(in));
  s.factor = 5;
  const keras::Sequential first({s});
  EXPECT_EQ(values(first(x)), values(x * 5.f));
  s.factor = 7;
  const keras::Sequential second({s});
  EXPECT_EQ(values(first(x)), values(x * 7.f));  // the same object
  EXPECT_EQ(values(second(x)), values(x * 7.f));
  EXPECT_EQ(values(m(x)), values(x * 7.f));
}

TEST(LayerObject, ADrawnModelFollowsAnObjectThatMoves) {
  std::vector<Scale> list(1);
  const Tensor in = keras::Input({3});
  const keras::Model m(in, list[0](in));
  list.reserve(100);
  list[0].factor = 4;
  EXPECT_EQ(values(m(x)), values(x * 4.f));
  Scale moved = std::move(list[0]);
  moved.factor = 6;
  EXPECT_EQ(values(m(x)), values(x * 6.f));
  // And one that a container had a copy of before.
  Scale s;
  keras::Sequential q({s});
  q(x);
  const keras::Model n(in, s(in));
  s.factor = 9;
  EXPECT_EQ(values(n(x)), values(x * 9.f));
}

TEST(LayerObject, AHandleMadeBeforeTheFirstCallDoesWhatTheObjectDoes) {
  Doubled d(1);
  const layers::Dense sliced = d;
  EXPECT_EQ(values(sliced(x)), values(d(x)));
  MLP mlp;
  const keras::Model model = mlp;
  EXPECT_EQ(values(model(x)), values(mlp(x)));
  EXPECT_EQ(model.name(), mlp.name());
  const auto shared = [] {
    const auto p = std::make_shared<MLP>();
    return keras::Model(*p);
  }();
  EXPECT_EQ(shared(x).shape(), (tf::TensorShape{5, 2}));
  std::vector<layers::Dense> list;
  list.push_back(Doubled(1));  // the object is gone
  expect_error<tf::errors::FailedPrecondition>([&] { list[0](x); }, "class Doubled is gone");
}

TEST(LayerObject, NamesInAStackAreInItsOrder) {
  keras::backend::clear_session();
  const keras::Sequential s({Linear(3), Linear(3), Linear(3)});
  std::vector<std::string> names;
  for (const keras::LayerRef& l : s.layers()) names.push_back(l->name());
  EXPECT_THAT(names, ElementsAre("linear", "linear_1", "linear_2"));
}

// Made before main, when nothing in the program has run yet.
struct OfLinears : keras::Model {
  Linear first{3}, second{2};
  OfLinears() {
    track("first", first);
    track("second", second);
  }
  Tensor call(const Tensor& v, const keras::CallContext&) override { return second(first(v)); }
};
OfLinears before_main;
TEST(LayerObject, ObjectsOfNamespaceScopeAreTracked) {
  before_main(x);
  EXPECT_EQ(before_main.weights().size(), 2u);
}

TEST(LayerObject, ThreadsMayAddLossesAtOnce) {
  struct Adds : layers::Layer {
    Tensor call(const Tensor& v, const keras::CallContext&) override {
      add_loss(tf::reduce_sum(v));
      add_metric(tf::reduce_sum(v), "s");
      return v;
    }
  };
  Adds a;
  const keras::Sequential keep({a});
  const Tensor in = keras::Input({3});
  const keras::Model m(in, a(in));
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&] {
      for (int i = 0; i < 50; ++i) m(x);
    });
  for (std::thread& t : threads) t.join();
  EXPECT_EQ(values(m(x)), values(x));
}

// A class whose from_config forgets the name.
struct Nameless : Linear {
  using Linear::Linear;
  static Nameless from_config(const keras::Config& c) {
    return Nameless(static_cast<int>(c["units"].as_int()));
  }
  keras::Config get_config() const override {
    keras::Config c = Linear::get_config();
    c.set("units", units);
    return c;
  }
};
TEST(LayerObject, WeightsFindTheirLayersWhateverTheirNames) {
  keras::utils::register_keras_serializable<Nameless>("Nameless");
  const Tensor in = keras::Input({3});
  const keras::Model m(in, layers::Dense(3)(Nameless(3)(in)));
  m.weights()[0].assign({{1.f, 0.f, 0.f}, {0.f, 0.f, 0.f}, {0.f, 0.f, 0.f}});
  const std::string folder = fresh_folder("layer_object_names");
  for (const std::string file : {"/m.h5", "/m.keras"}) {
    m.save(folder + file);
    EXPECT_EQ(values(keras::models::load_model(folder + file)(x)), values(m(x)));
  }
  const keras::Model clone = keras::models::clone_model(m);
  clone.set_weights(m.get_weights());
  EXPECT_EQ(values(clone(x)), values(m(x)));
}

// ---- files
struct OwnStep : keras::Model {
  OwnStep(const Nest& in, const Nest& out) : keras::Model(in, out) {}
  static int steps;
  Nest train_step(const Nest& data) override {
    ++steps;
    return keras::Model::train_step(data);
  }
  Tensor call(const Tensor& v, const keras::CallContext& c) override {
    return keras::Model::call(v, c) * 2.f;
  }
};
int OwnStep::steps = 0;
struct OwnStack : keras::Sequential {
  Nest test_step(const Nest& data) override {
    return keras::Sequential::test_step(data).with("own", tf::constant(7.f));
  }
};
struct Subclassed : keras::Model {
  int units;
  layers::Dense dense;
  explicit Subclassed(int units) : units(units), dense(units) { track("dense", dense); }
  explicit Subclassed(const keras::Config& c) : Subclassed(static_cast<int>(c["units"].as_int())) {}
  Tensor call(const Tensor& v, const keras::CallContext&) override { return dense(v) + 1.f; }
  keras::Config get_config() const override {
    keras::Config c = keras::Model::get_config();
    c.set("units", units);
    return c;
  }
};

TEST(LayerObject, LoadModelGivesTheRegisteredClass) {
  keras::utils::register_keras_serializable<OwnStep>("OwnStep");
  const std::string folder = fresh_folder("layer_object_class");
  const Tensor in = keras::Input({3});
  OwnStep m(in, layers::Dense(1)(in));
  m.compile({.optimizer = "sgd", .loss = "mse"});
  const Tensor want = m(x);
  for (const std::string file : {"/m.keras", "/m.h5"}) {
    m.save(folder + file);
    keras::Model back = keras::models::load_model(folder + file);
    expect_near(back(x), want);
    EXPECT_EQ(back.name(), m.name());
    OwnStep::steps = 0;
    back.fit(x, tf::ones({5, 1}), {.verbose = 0});
    EXPECT_GT(OwnStep::steps, 0);
    ASSERT_TRUE(keras::LayerRef(back).as<OwnStep>());
  }
}

TEST(LayerObject, LoadModelGivesAStackOfTheRegisteredClass) {
  keras::utils::register_keras_serializable<OwnStack>("OwnStack");
  const std::string path = fresh_folder("layer_object_stack") + "/m.keras";
  OwnStack m;
  m.add(layers::Dense(2, {.input_shape = {3}}));
  m.compile({.optimizer = "sgd", .loss = "mse"});
  m.save(path);
  keras::Model back = keras::models::load_model(path);
  EXPECT_EQ(values(back(x)), values(m(x)));
  EXPECT_EQ(back.evaluate(x, tf::ones({5, 2}), {.verbose = 0})["own"], 7);
}

TEST(LayerObject, LoadModelGivesASubclassedModel) {
  const std::string path = fresh_folder("layer_object_subclassed") + "/m.keras";
  Subclassed m(2);
  const Tensor want = m(x);
  expect_error<tf::errors::Unimplemented>([&] { m.save(path); },
                                          "register_keras_serializable<Subclassed>");
  keras::utils::register_keras_serializable<Subclassed>("Subclassed");
  m.save(path);
  const keras::Model back = keras::models::load_model(path);
  EXPECT_EQ(values(back(x)), values(want));
  EXPECT_EQ(keras::LayerRef(back).as<Subclassed>()->units, 2);
}

}  // namespace
