// HDF5 files of Keras before 2.11, whose optimizers keep their state in another order.
#include <gtest/gtest.h>

#include <cstdlib>

#include "rill/io/file.h"
#include "rill/rill.h"

namespace tf = rill;
namespace keras = tf::keras;

namespace {

std::string legacy_file(const std::string& name) {
  const char* root = std::getenv("RILL_SOURCE_DIR");
  return std::string(root ? root : ".") + "/rill/keras/saving/testdata/legacy/" + name;
}

class LegacyOptimizer : public testing::TestWithParam<const char*> {};

TEST_P(LegacyOptimizer, TrainingContinuesAsInKeras) {
  keras::Model m = keras::models::load_model(legacy_file(std::string(GetParam()) + ".h5"));
  const auto x = tf::reshape(tf::linspace(-1.f, 1.f, 24), {8, 3}),
             y = tf::reshape(tf::linspace(0.f, 1.f, 16), {8, 2});
  EXPECT_EQ(m.optimizer().iterations().value().item<int>(), 6);
  m.fit(x, y, {.batch_size = 4, .epochs = 2, .verbose = 0, .shuffle = false});
  const auto got = m.predict(x, {.verbose = 0}).to_vector<float>();
  const keras::Config all =
      keras::Config::from_json(tf::io::file_contents(legacy_file("expected.json")));
  const keras::Config& want = all[GetParam()];
  ASSERT_EQ(got.size(), want.size());
  for (std::size_t i = 0; i < got.size(); ++i)
    EXPECT_NEAR(got[i], want[i].as_double(), 2e-6) << GetParam() << " " << i;
}
// The same from checkpoints, which hold slots beside their variables: into a model that has made
// its state, and into one that makes it at the next step.
TEST_P(LegacyOptimizer, CheckpointsAreRead) {
  const keras::Model saved =
      keras::models::load_model(legacy_file(std::string(GetParam()) + ".h5"));
  const auto x = tf::reshape(tf::linspace(-1.f, 1.f, 24), {8, 3}),
             y = tf::reshape(tf::linspace(0.f, 1.f, 16), {8, 2});
  const keras::Config want =
      keras::Config::from_json(tf::io::file_contents(legacy_file("expected.json")))[GetParam()];
  for (const bool stepped : {true, false}) {
    SCOPED_TRACE(stepped);
    keras::Model m = keras::models::clone_model(saved);
    m.compile({.optimizer =
                   keras::optimizers::deserialize(keras::optimizers::serialize(saved.optimizer())),
               .loss = "mse"});
    if (stepped) m.train_on_batch(x, y);
    const tf::train::Checkpoint checkpoint({{"model", m}, {"optimizer", m.optimizer()}});
    checkpoint.read(legacy_file(GetParam())).expect_partial();
    EXPECT_EQ(m.optimizer().iterations().value().item<int>(), 6);
    m.fit(x, y, {.batch_size = 4, .epochs = 2, .verbose = 0, .shuffle = false});
    const auto got = m.predict(x, {.verbose = 0}).to_vector<float>();
    for (std::size_t i = 0; i < got.size(); ++i)
      EXPECT_NEAR(got[i], want[i].as_double(), 2e-6) << GetParam() << " " << i;
  }
}
INSTANTIATE_TEST_SUITE_P(Golden, LegacyOptimizer,
                         testing::Values("adam", "sgd", "momentum", "rmsprop", "adagrad",
                                         "adadelta", "adamax", "ftrl"));

}  // namespace
