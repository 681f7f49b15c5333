#include "rill/compat/v1/summary.h"

#include <gtest/gtest.h>

#include "rill/base/error.h"
#include "rill/compat/v1/train.h"
#include "rill/keras/metrics/metrics.h"
#include "rill/ops/array_ops.h"
#include "rill/ops/math_ops.h"
#include "rill/summary/event_reader.h"
#include "tests/checkpoint_files.h"
#include "tests/expect_error.h"
#include "tests/shows.h"

namespace tf = rill;
namespace contrib = rill::contrib;
using rill::saving_tests::fresh_folder;
using rill::testing::expect_error;

namespace {

// Step and value of every scalar of the file.
using Points = std::vector<std::pair<std::int64_t, float>>;
Points points(const tf::summary::SummaryWriter& writer) {
  writer.flush();
  Points out;
  for (const auto& event : tf::summary::summary_iterator(writer.path()))
    for (const auto& value : event.values) out.emplace_back(event.step, value.tensor.item<float>());
  return out;
}

TEST(ContribSummary, RecordsEveryHundredGlobalSteps) {
  RILL_SHOWS("V17", "V18", "P17");
  tf::keras::metrics::Mean m("loss");
  m(0);
  m(5);
  EXPECT_EQ(m.result().item<float>(), 2.5f);
  m({8, 9});
  EXPECT_EQ(m.result().item<float>(), 5.5f);

  const tf::Variable global_step = tf::train::get_or_create_global_step();
  global_step.assign(tf::constant(0, tf::int64));
  const auto writer = contrib::summary::create_file_writer(fresh_folder("contrib"));
  writer.set_as_default();
  for (int i = 0; i < 350; ++i) {
    global_step.assign_add(tf::constant(1, tf::int64));
    const auto scope = contrib::summary::record_summaries_every_n_global_steps(100);
    contrib::summary::scalar("loss", 1.f / static_cast<float>(i + 1));
  }
  EXPECT_EQ(points(writer), (Points{{100, 1.f / 100}, {200, 1.f / 200}, {300, 1.f / 300}}));
  tf::summary::SummaryWriter().set_as_default();
}

TEST(ContribSummary, RecordsNothingOutsideOfAScope) {
  RILL_SHOWS("Z16");
  const auto writer = contrib::summary::create_file_writer(fresh_folder("contrib_scopes"));
  const auto as_default = writer.as_default();
  EXPECT_FALSE(contrib::summary::scalar("loss", 1.f, {.step = 1}));
  {
    const auto always = contrib::summary::always_record_summaries();
    EXPECT_TRUE(contrib::summary::should_record_summaries());
    EXPECT_TRUE(contrib::summary::scalar("loss", 2.f, {.step = 2}));
    {
      const auto never = contrib::summary::never_record_summaries();
      EXPECT_FALSE(contrib::summary::scalar("loss", 3.f, {.step = 3}));
    }
    EXPECT_TRUE(contrib::summary::scalar("loss", 4.f, {.step = 4}));
  }
  EXPECT_FALSE(contrib::summary::should_record_summaries());
  EXPECT_FALSE(contrib::summary::scalar("loss", 5.f, {.step = 5}));
  EXPECT_EQ(points(writer), (Points{{2, 2.f}, {4, 4.f}}));
}

TEST(ContribSummary, AnotherStepMayDecide) {
  const auto writer = contrib::summary::create_file_writer(fresh_folder("contrib_step"));
  const auto as_default = writer.as_default();
  const tf::Variable step(tf::constant(6, tf::int64));
  {
    const auto scope = contrib::summary::record_summaries_every_n_global_steps(3, step);
    EXPECT_TRUE(contrib::summary::scalar("loss", 1.f, {.step = step}));
    step.assign(tf::constant(7, tf::int64));
    EXPECT_FALSE(contrib::summary::scalar("loss", 2.f, {.step = step}));
  }
  EXPECT_EQ(points(writer), (Points{{6, 1.f}}));
  expect_error<tf::errors::InvalidArgument>(
      [] { auto scope = contrib::summary::record_summaries_every_n_global_steps(0); },
      "n is 0; expected at least 1");
}

}  // namespace
