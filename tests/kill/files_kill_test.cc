// A pipeline of files that is killed again and again, at any moment, gives in all what one gives
// that is left alone: the saved iterator knows the place in each file, what threads read ahead, the
// shuffle buffer and the random streams.
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <random>

#include "child.h"
#include "rill/io/file.h"
#include "rill/io/tf_record.h"
#include "rill/rill.h"
#include "tests/scratch_folder.h"

namespace tf = rill;
using rill::testing::Child, rill::testing::text_of;
using tf::Nest, tf::Tensor, tf::data::Dataset;

namespace {

constexpr int kFiles = 5, kRecords = 60;

void write_files(const std::string& folder) {
  for (int f = 0; f < kFiles; ++f) {
    tf::io::TFRecordWriter out(folder + "/" + std::to_string(f) + ".gz",
                               {.compression_type = "GZIP"});
    for (int r = 0; r < kRecords + f; ++r)
      out.write(
          tf::train::Example{.features = {.feature = {{"n", {.int64_list = {{100 * f + r}}}}}}}
              .SerializeToString());
    out.close();
  }
}

Dataset pipeline(const std::string& folder) {
  const auto parse = [](const Tensor& record) {
    const Nest e =
        tf::io::parse_single_example(record, {{"n", tf::io::FixedLenFeature({}, tf::int64)}});
    return tf::tuple(e["n"], tf::random::uniform({}));
  };
  return Dataset::list_files(folder + "/*.gz")
      .interleave(
          [](const Tensor& name) {
            return tf::data::TFRecordDataset(name, {.compression_type = "GZIP"});
          },
          {.cycle_length = 3, .block_length = 2, .num_parallel_calls = 2})
      .map(parse, {.num_parallel_calls = 3})
      .shuffle(40)
      .batch(7)
      .prefetch(2);
}

// Goes on where the file of the state says; after each batch it writes a new one, with all that
// came so far, at once.
void read_on(const std::string& folder, const std::string& state_file, int pipe) {
  tf::data::Iterator it = pipeline(folder).iter();
  std::string text;
  if (std::filesystem::exists(state_file)) {
    const std::string saved = tf::io::file_contents(state_file);
    const std::size_t size = std::stoul(saved);
    const std::size_t begin = saved.find('\n') + 1;
    it.restore(saved.substr(begin, size));
    text = saved.substr(begin + size);
  }
  const auto save = [&] {
    const std::string state = it.save();
    tf::io::write_file_atomically(state_file, std::to_string(state.size()) + "\n" + state + text);
    Child::tell(pipe);
  };
  save();
  for (Nest e; it.next(&e);) {
    text += tf::format("{}\n", e);
    save();
  }
}
std::string texts_of(const std::string& state_file) {
  const std::string saved = text_of(state_file);
  return saved.empty() ? "" : saved.substr(saved.find('\n') + 1 + std::stoul(saved));
}

TEST(KillFiles, APipelineOfFilesGoesOnWithExactlyTheRest) {
  const std::string folder = rill::testing::fresh_folder("kill_files");
  write_files(folder);
  const auto child = [&](const std::string& name) {
    return [&folder, name](int pipe) { read_on(folder, folder + "/" + name, pipe); };
  };
  const std::string error = folder + "/error";
  // The chance of the first process decides all: its state is the start of both runs.
  {
    Child first(child("killed"), error);
    for (int i = 0; i < 3; ++i) ASSERT_TRUE(first.step()) << text_of(error);
    first.kill();
  }
  std::filesystem::copy(folder + "/killed", folder + "/undisturbed");
  ASSERT_EQ(Child(child("undisturbed"), error).wait(), 0) << text_of(error);

  std::mt19937 random(11);
  int finished = 0;
  for (int i = 0; i < 15 && !finished; ++i) {
    Child one(child("killed"), error);
    bool alive = true;
    for (unsigned n = random() % 4; n > 0 && alive; --n) alive = one.step();
    finished += !alive;
    usleep(static_cast<useconds_t>(random() % 2000));
    one.kill();
  }
  ASSERT_EQ(Child(child("killed"), error).wait(), 0) << text_of(error);
  const std::string all = texts_of(folder + "/killed");
  EXPECT_EQ(std::count(all.begin(), all.end(), '\n') > 40, true);
  EXPECT_TRUE(all == texts_of(folder + "/undisturbed"));
}

}  // namespace
