#include <gtest/gtest.h>

#include "rill/ops/random_ops.h"

// Weights and orders that tests draw by chance are the same in every run.
namespace {

class Seeded : public ::testing::Environment {
 public:
  void SetUp() override { rill::random::set_seed(1); }
};
[[maybe_unused]] ::testing::Environment* const seeded =
    ::testing::AddGlobalTestEnvironment(new Seeded);

}  // namespace
