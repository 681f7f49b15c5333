#include <cmath>

#include "rill/rill.h"
#include "tests/shows.h"

namespace tf = rill;

namespace {

using Floats = std::vector<float>;

TEST(Clip, ByValueKeepsToTheLimits) {
  RILL_SHOWS("L37");
  EXPECT_EQ(tf::clip_by_value(tf::constant({-5.f, 0.5f, 7.f}), -1, 2.f).to_vector<float>(),
            (Floats{-1, 0.5f, 2}));
}

TEST(Clip, ByNormScalesWhatIsLonger) {
  RILL_SHOWS("L38", "Q50");
  const auto t = tf::constant({{3.f, 4.f}, {0.3f, 0.4f}});
  const auto rows = tf::clip_by_norm(t, 1.f, {1}).to_vector<float>();
  EXPECT_NEAR(rows[0], 0.6f, 1e-6f);
  EXPECT_NEAR(rows[1], 0.8f, 1e-6f);
  EXPECT_EQ(rows[2], 0.3f);
  EXPECT_EQ(rows[3], 0.4f);
  const auto zero = tf::zeros({2});
  tf::GradientTape tape;
  tape.watch(zero);
  EXPECT_EQ(tape.gradient(tf::clip_by_norm(zero, 2.f), zero).to_vector<float>(), (Floats{1, 1}));
}

TEST(Clip, ByGlobalNormKeepsNoneAndSparse) {
  RILL_SHOWS("L40", "Q50");
  const auto table = tf::constant({{1.f, 2.f}, {3.f, 4.f}}), w = tf::constant({6.f}),
             other = tf::constant(1.f);
  tf::GradientTape tape;
  tape.watch({table, w, other});
  const auto y = tf::reduce_sum(tf::gather(table, {1})) * tf::constant(3.f) + tf::reduce_sum(w * w);
  const tf::Gradients grads = tape.gradient(y, {table, w, other});
  ASSERT_TRUE(grads[0].is_sparse());  // row 1: [3, 3]
  const auto [clipped, norm] = tf::clip_by_global_norm(grads, 1.f);
  const float size = std::sqrt(9.f + 9.f + 144.f);
  EXPECT_NEAR(norm.item<float>(), size, 1e-5f);
  ASSERT_TRUE(clipped[0].is_sparse());
  EXPECT_NEAR(clipped[0].slices().values.to_vector<float>()[0], 3 / size, 1e-6f);
  EXPECT_NEAR(clipped[1].to_vector<float>()[0], 12 / size, 1e-6f);
  EXPECT_FALSE(clipped[2].defined());
  const auto [same, again] = tf::clip_by_global_norm(grads, 100.f);
  EXPECT_EQ(same[1].to_vector<float>(), (Floats{12}));
  EXPECT_TRUE(tf::clip_by_norm(grads[0], 1.f).is_sparse());
  EXPECT_EQ(tf::clip_by_value(grads[0], 0, 1).slices().values.to_vector<float>(), (Floats{1, 1}));
}

TEST(Clip, ByGlobalNormOfAnInfiniteNormIsNan) {
  RILL_SHOWS("L40");
  const auto [clipped, norm] = tf::clip_by_global_norm({tf::constant({INFINITY, 1.f})}, 1.f);
  EXPECT_TRUE(std::isinf(norm.item<float>()));
  EXPECT_TRUE(std::isnan(clipped[0].to_vector<float>()[1]));
}

TEST(AddN, NamesWhatIsMissing) {
  try {
    tf::add_n(tf::Gradients{tf::Gradient(tf::constant(1.f)), tf::Gradient()});
    FAIL();
  } catch (const tf::errors::InvalidArgumentError& e) {
    EXPECT_EQ(e.message(), "[add_n] inputs[1] is None; expected a tensor");
  }
}

}  // namespace
