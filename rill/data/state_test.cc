// Iterators that go on where a saved one was.
#include <gtest/gtest.h>

#include <functional>
#include <optional>

#include "rill/base/hash.h"
#include "rill/core/trackable.h"
#include "rill/rill.h"
#include "tests/expect_error.h"
#include "tests/scratch_folder.h"
#include "tests/shows.h"

namespace tf = rill;
using rill::testing::expect_error;
using tf::Nest, tf::Tensor, tf::data::Dataset, tf::data::Iterator;

namespace {

std::string text(const Nest& n) {
  std::string out = n.to_string();
  for (const Tensor& t : n.flatten()) out += " " + t.to_string();
  return out;
}
// What the iterator gives, up to 40 elements.
std::vector<std::string> rest(Iterator it) {
  std::vector<std::string> out;
  for (Nest e; out.size() < 40 && it.next(&e);) out.push_back(text(e));
  return out;
}

struct Pipeline {
  const char* name;
  std::function<Dataset()> make;  // each call is what a new process would build
};
std::ostream& operator<<(std::ostream& os, const Pipeline& p) { return os << p.name; }

Tensor noisy(Tensor x) { return tf::cast(x, tf::float32) + tf::random::uniform({2}); }
Nest both(Nest e) { return tf::tuple(e, tf::constant("s")); }

const Pipeline pipelines[] = {
    {"slices",
     [] {
       return Dataset::from_tensor_slices(
           tf::tuple(tf::range(10), Nest::dict({{"s", tf::as_string(tf::range(10))}})));
     }},
    {"tensors",
     [] {
       return Dataset::from_tensors(tf::constant({1, 2})).repeat(3);
     }},
    {"shuffle", [] { return Dataset::range(12).shuffle(5); }},
    {"shuffle_of_elements", [] { return Dataset::range(12).map(both).shuffle(5); }},
    {"shuffle_repeat_batch", [] { return Dataset::range(12).shuffle(12).repeat(3).batch(5); }},
    {"shuffle_without_end", [] { return Dataset::range(7).shuffle(4).repeat(); }},
    {"random_map", [] { return Dataset::range(9).map(noisy).repeat(2); }},
    {"random_parallel_map",
     [] { return Dataset::range(9).map(noisy, {.num_parallel_calls = 3}).repeat(2); }},
    {"prefetch", [] { return Dataset::range(20).shuffle(6).map(noisy).batch(3).prefetch(2); }},
    {"prefetch_to_device",
     [] {
       return Dataset::range(20).shuffle(6).map(both).batch(3).prefetch_to_device("TEST:0", 2);
     }},
    {"filter",
     [] {
       return Dataset::range(30).filter([](Tensor) { return tf::random::uniform({}) > 0.5f; });
     }},
    {"take_skip_shard", [] { return Dataset::range(40).skip(3).shard(2, 1).take(11); }},
    {"take_while",
     [] { return Dataset::range(9).take_while([](std::int64_t x) { return x < 6; }); }},
    {"zip_enumerate",
     [] {
       const auto s = Dataset::range(8).shuffle(8);
       return Dataset::zip({s, s, s.enumerate(3)});
     }},
    {"zip_of_sources",
     [] {
       return Dataset::zip({Dataset::range(9), Dataset::from_tensor_slices(tf::range(8))})
           .shuffle(4)
           .batch(3);
     }},
    {"concatenate", [] { return Dataset::range(4).shuffle(4).concatenate(Dataset::range(3)); }},
    {"cache", [] { return Dataset::range(6).map(noisy).cache().repeat(3); }},
    {"cache_of_rows", [] { return Dataset::range(6).shuffle(6).cache().repeat(3).batch(4); }},
    {"unbatch", [] { return Dataset::range(10).shuffle(10).batch(4).unbatch(); }},
    {"padded_batch", [] { return Dataset::range(5).padded_batch(2); }},
    {"interleave",
     [] {
       return Dataset::range(5).interleave(
           [](std::int64_t n) { return Dataset::range(n).shuffle(4).map(noisy); },
           {.cycle_length = 2, .block_length = 2});
     }},
    {"parallel_interleave",
     [] {
       return Dataset::range(5).interleave(
           [](std::int64_t n) { return Dataset::range(n).shuffle(4).map(noisy); },
           {.cycle_length = 3, .block_length = 2, .num_parallel_calls = 2});
     }},
    {"flat_map_of_one_dataset",
     [] {
       const auto inner = Dataset::range(4).shuffle(4);
       return Dataset::range(4).flat_map([inner](Tensor) { return inner; });
     }},
    {"window",
     [] {
       return Dataset::range(9).window(3, {.shift = 2}).flat_map([](Nest w) {
         return Dataset::of(w).batch(3);
       });
     }},
    {"flat_map_of_prefetched",
     [] {
       return Dataset::range(4).flat_map([](std::int64_t n) {
         return Dataset::range(n + 1).map(noisy).prefetch(tf::data::AUTOTUNE);
       });
     }},
    {"scan",
     [] {
       return Dataset::range(9).shuffle(4).scan(
           tf::constant(std::int64_t{0}),
           [](Tensor s, Tensor x) { return tf::tuple(s + x, tf::tuple(s, noisy(x))); });
     }},
    {"window_of_tuples",
     [] {
       const auto both_of = [](Tensor x, Tensor y) {
         return Dataset::zip({Dataset::of(x).batch(3), Dataset::of(y)});
       };
       return Dataset::range(9).shuffle(4).enumerate().window(3, {.shift = 2}).flat_map(both_of);
     }},
    {"cache_in_file",
     [] {
       const std::string name = rill::testing::scratch_folder() + "/state_cache";
       return Dataset::range(6).map(noisy).cache(name).repeat(3);
     }},
    {"saved_in_shards",
     [] {
       const std::string folder = rill::testing::scratch_folder() + "/state_saved";
       if (!tf::io::gfile::exists(folder))
         Dataset::range(11).map(both).save(
             folder, {.compression = "GZIP", .shard_func = [](Tensor n, Tensor) { return n % 3; }});
       return Dataset::load(folder, {.compression = "GZIP"}).shuffle(3);
     }},
    {"files_in_turns",
     [] {
       const std::string folder = rill::testing::scratch_folder() + "/state_files";
       for (const char* name : {"a", "b", "c"})
         if (!tf::io::gfile::exists(folder + "/" + name))
           tf::io::write_file(folder + "/" + name, std::string(name) + "1\n2\n3\n4\n");
       return tf::data::TextLineDataset({folder + "/a", folder + "/b", folder + "/c"},
                                        {.num_parallel_reads = 2})
           .shuffle(3)
           .batch(2)
           .prefetch(tf::data::AUTOTUNE);
     }},
    {"generator",
     [] {
       return Dataset::from_generator(
           [] {
             return [i = 0]() mutable {
               return i < 8 ? std::optional<int>(++i) : std::optional<int>();
             };
           },
           tf::int32, tf::TensorShape({}));
     }},
};

class State : public ::testing::TestWithParam<Pipeline> {};
INSTANTIATE_TEST_SUITE_P(Pipelines, State, ::testing::ValuesIn(pipelines),
                         [](const auto& i) { return i.param.name; });

TEST_P(State, GoesOnWithTheSameElements) {
  RILL_SHOWS("D42");
  const Pipeline& p = GetParam();
  for (const bool peek : {false, true}) {
    for (int cut = 0; cut < 26; ++cut) {
      auto it = p.make().iter();
      Nest e;
      for (int i = 0; i < cut && it.next(&e); ++i) {
      }
      if (peek && it == tf::data::Sentinel{}) continue;
      const std::string state = it.save();
      const auto expected = rest(it);
      auto other = p.make().iter();
      if (cut % 2) other.next(&e);  // wherever it was
      other.restore(state);
      EXPECT_EQ(rest(other), expected) << "after " << cut;
    }
  }
}

TEST_P(State, DamagedBytesAreDataLoss) {
  auto it = GetParam().make().iter();
  const std::string state = it.save();
  auto other = GetParam().make().iter();
  for (std::size_t i = 0; i < state.size(); ++i) {
    std::string bad = state;
    bad[i] = static_cast<char>(bad[i] ^ 0x40);
    expect_error<tf::errors::DataLoss>([&] { other.restore(bad); }, "the state is damaged");
    expect_error<tf::errors::DataLoss>([&] { other.restore(state.substr(0, i)); },
                                       "the state is damaged");
  }
}

// The state with another content, and a checksum that fits.
std::string forged(const std::string& state, const std::string& content) {
  const std::uint64_t sum = tf::fingerprint64(content);
  std::string out = state.substr(0, 8) + content;
  for (int b = 0; b < 8; ++b) out += static_cast<char>(sum >> 8 * b);
  return out;
}

// Even where the checksum was made to fit, an error is all that comes of it.
TEST_P(State, ForgedBytesNeverCrash) {
  auto it = GetParam().make().iter();
  Nest e;
  it.next(&e);
  const std::string state = it.save();
  const std::string body = state.substr(8, state.size() - 16);
  for (std::size_t i = 0; i < body.size(); ++i)
    for (const int flip : {0x01, 0x80, 0xff}) {
      std::string bad = body;
      bad[i] = static_cast<char>(bad[i] ^ flip);
      auto other = GetParam().make().iter();
      try {
        // A generator would be run that often.
        if (GetParam().name == std::string("generator")) continue;
        other.restore(forged(state, bad));
        rest(other);
      } catch (const tf::errors::Error&) {
      }
    }
}

TEST(StateOf, ABatchWithOtherRowsThanItSaysIsDataLoss) {
  const auto make = [] { return Dataset::range(8).batch(4).unbatch(); };
  auto it = make().iter();
  it.next();
  const std::string state = it.save();
  std::string content = state.substr(8, state.size() - 16);
  const auto bytes = [](char n) { return n + std::string(7, '\0'); };
  const std::size_t at = content.find(bytes(1) + bytes(4));  // 1 row of 4 is taken
  ASSERT_NE(at, content.npos);
  content[at + 8] = 5;
  auto other = make().iter();
  expect_error<tf::errors::DataLoss>([&] { other.restore(forged(state, content)); },
                                     "the state is damaged: a batch has 4 rows, not 5");
}

// Passes that begin after a restore are those that would have come after the saved one, in a
// process that drew other seeds too.
TEST(StateOf, TheNextPassesFollowTheSavedOne) {
  const auto make = [] { return Dataset::range(50).shuffle(50).map(noisy).batch(7); };
  const Dataset first = make();
  rest(first.make_iterator());
  Iterator it = first.make_iterator();
  it.next();
  const std::string state = it.save();
  const Dataset second = make();
  rest(second.make_iterator());
  rest(second.make_iterator());
  Iterator restored = second.make_iterator();
  restored.restore(state);
  EXPECT_EQ(rest(restored), rest(it));
  for (int i = 0; i < 3; ++i)
    EXPECT_EQ(rest(second.make_iterator()), rest(first.make_iterator())) << i;
}

TEST(StateOf, AnotherPipelineIsRefused) {
  auto it = Dataset::range(5).batch(2).iter();
  const std::string state = it.save();
  auto other = Dataset::range(5).shuffle(2).iter();
  other.next();
  expect_error<tf::errors::InvalidArgument>(
      [&] { other.restore(state); }, "it has a BatchDataset where this one has a ShuffleDataset");
  auto longer = Dataset::range(6).batch(2).iter();
  expect_error<tf::errors::InvalidArgument>(
      [&] { longer.restore(state); },
      "its RangeDataset has number of elements 5, where this one has 6");
  EXPECT_EQ(longer.next().as_tensor().to_string(), "[0 1]");  // as it was
}

TEST(StateOf, APipelineOfOtherNumbersIsRefused) {
  const Dataset r = Dataset::range(20);
  const auto pair = [](std::int64_t) { return Dataset::range(2); };
  const struct {
    Dataset saved, other;
    const char* difference;
  } cases[] = {
      {r.batch(4), r.batch(3), "its BatchDataset has batch_size 4, where this one has 3"},
      {r.batch(4), r.batch(4, {.drop_remainder = true}), "BatchDataset has drop_remainder 0"},
      {r.padded_batch(4), r.padded_batch(3), "PaddedBatchDataset has batch_size 4"},
      {r.shuffle(5), r.shuffle(6), "ShuffleDataset has buffer_size 5"},
      {r.shuffle(5, {.seed = 1}), r.shuffle(5, {.seed = 2}), "ShuffleDataset has seed 1"},
      {r.shuffle(5), r.shuffle(5, {.reshuffle_each_iteration = false}),
       "ShuffleDataset has reshuffle_each_iteration 1, where this one has 0"},
      {r.take(5), r.take(6), "TakeDataset has count 5"},
      {r.skip(5), r.skip(6), "SkipDataset has count 5"},
      {r.repeat(5), r.repeat(), "RepeatDataset has count 5, where this one has -1"},
      {r.shard(3, 1), r.shard(3, 2), "ShardDataset has index 1"},
      {r.window(3), r.window(3, {.shift = 1}), "WindowDataset has shift 3"},
      {r.window(3), r.window(3, {.stride = 2}), "WindowDataset has stride 1"},
      {r.enumerate(5), r.enumerate(6), "EnumerateDataset has start 5"},
      {r.interleave(pair, {.cycle_length = 3}), r.interleave(pair, {.cycle_length = 2}),
       "interleave has cycle_length 3"},
      {r.interleave(pair, {.cycle_length = 3}),
       r.interleave(pair, {.cycle_length = 3, .block_length = 2}), "interleave has block_length 1"},
      {r, Dataset::range(1, 21), "RangeDataset has start 0, where this one has 1"},
      {Dataset::zip({r, r.take(9)}), Dataset::zip({r.take(9)}),
       "ZipDataset has number of datasets"},
      {Dataset::zip({r, r}), Dataset::zip({r, Dataset::range(20, 40)}), "ZipDataset has start 0"},
  };
  for (const auto& c : cases) {
    Iterator it = c.saved.iter();
    it.next();
    const std::string state = it.save();
    Iterator other = c.other.iter();
    expect_error<tf::errors::InvalidArgument>([&] { other.restore(state); }, c.difference);
    EXPECT_NO_THROW(other.next()) << c.difference;  // as it was
  }
}

TEST(StateOf, ACheckpointHoldsIt) {
  auto it = Dataset::range(30).shuffle(10).iter();
  it.next();
  const auto saved = it.trackable()->saved_values();
  ASSERT_EQ(saved.size(), 1u);
  EXPECT_EQ(saved[0].key, "ITERATOR_STATE");
  EXPECT_EQ(saved[0].value.dtype(), tf::string);
  const auto expected = rest(it);
  auto other = Dataset::range(30).shuffle(10).iter();
  const auto node = other.trackable();
  EXPECT_EQ(node->saved_keys(), (std::vector<std::string>{"ITERATOR_STATE"}));
  node->restore_value("ITERATOR_STATE", saved[0].value);
  EXPECT_EQ(rest(other), expected);
  expect_error<tf::errors::InvalidArgument>(
      [&] { node->restore_value("ITERATOR_STATE", tf::constant(1)); }, "expected one string");
}

}  // namespace
