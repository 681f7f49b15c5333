// Training that is killed again and again, at any moment, ends in the same numbers as one that is
// left alone: weights, optimizer, place in the data and random streams come back from the backup.
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/inotify.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <random>

#include "child.h"
#include "rill/rill.h"

namespace tf = rill;
namespace keras = rill::keras;
using rill::testing::Child, rill::testing::text_of;

namespace {

constexpr int kEpochs = 30;

// Tells the parent of each batch by a byte.
struct Heartbeat : keras::callbacks::Callback {
  explicit Heartbeat(int to) : to(to) {}
  void on_train_batch_end(std::int64_t, const keras::Logs&) override { Child::tell(to); }
  int to;
};

// A training with all that draws: shuffling, dropout, noise; with slots, and with sums of metrics
// that go over the epoch. No seed is set for the shuffling and the dropout: the backup alone knows
// what the first process drew by chance.
void train(const std::string& folder, int pipe, const std::string& result) {
  auto [train, test] = keras::datasets::digits::load_data();
  const tf::Tensor x = tf::cast(train.x(tf::slice(0, 200)), tf::float32) / 16.f,
                   y = train.y(tf::slice(0, 200));
  const auto fixed = [](int seed) { return keras::initializers::GlorotUniform({.seed = seed}); };
  keras::Sequential model({
      keras::layers::Flatten(),
      keras::layers::GaussianNoise(0.1),
      keras::layers::Dense(16, {.activation = "relu", .kernel_initializer = fixed(1)}),
      keras::layers::Dropout(0.3),
      keras::layers::Dense(10, {.activation = "softmax", .kernel_initializer = fixed(2)}),
  });
  model.compile(
      {.optimizer = "adam", .loss = "sparse_categorical_crossentropy", .metrics = {"accuracy"}});
  const auto data =
      tf::data::Dataset::from_tensor_slices(tf::tuple(x, y)).shuffle(64).batch(16).prefetch(2);
  Heartbeat heartbeat(pipe);
  keras::callbacks::BackupAndRestore backup(folder, {.save_freq = 3, .delete_checkpoint = false});
  const keras::History history = model.fit(data, {.epochs = kEpochs,
                                                  .verbose = 0,
                                                  .callbacks = {backup, heartbeat},
                                                  .validation_data = {x, y}});
  std::ofstream out(result);
  out.precision(17);
  const auto put = [&](const tf::Tensor& t) {
    for (double v : tf::cast(t, tf::float64).to_vector<double>()) out << v << ' ';
    out << '\n';
  };
  for (const tf::Tensor& w : model.get_weights()) put(w);
  for (const tf::Variable& v : model.optimizer().variables()) put(v.value());
  put(tf::random::normal({4}));  // the streams are at the same place
  for (const auto& [name, values] : history.items()) out << name << ' ' << values.back() << '\n';
}

// The training as a process that can be killed.
class Training : public Child {
 public:
  Training(const std::string& folder, const std::string& result)
      : Child([&](int pipe) { train(folder, pipe, result); }, result + ".error") {}
};

// Tells of the first file that is made or changed in a folder.
class Watch {
 public:
  explicit Watch(const std::string& folder) : fd_(inotify_init1(IN_CLOEXEC)) {
    inotify_add_watch(fd_, folder.c_str(), IN_CREATE | IN_MODIFY | IN_MOVED_TO);
  }
  ~Watch() { close(fd_); }
  bool wait(int ms) const {
    pollfd p{fd_, POLLIN, 0};
    return poll(&p, 1, ms) > 0;
  }

 private:
  int fd_;
};

TEST(Kill, TwentyKillsChangeNothing) {
  const std::string folder =
      (std::filesystem::temp_directory_path() / ("rill_kill_" + std::to_string(getpid()))).string();
  std::filesystem::remove_all(folder);
  std::filesystem::create_directories(folder + "/backup");
  // The chance of the first process decides all: a backup of its start is the start of both runs.
  {
    Training first(folder + "/backup", folder + "/none");
    for (int i = 0; i < 4; ++i) ASSERT_TRUE(first.step()) << text_of(folder + "/none.error");
    first.kill();
  }
  ASSERT_TRUE(std::filesystem::exists(folder + "/backup/checkpoint"));
  std::filesystem::copy(folder + "/backup", folder + "/undisturbed");
  ASSERT_EQ(Training(folder + "/undisturbed", folder + "/expected").wait(), 0)
      << text_of(folder + "/expected.error");
  const std::string expected = text_of(folder + "/expected");
  ASSERT_FALSE(expected.empty());

  std::mt19937 random(20);
  const auto below = [&](int n) { return static_cast<int>(random() % static_cast<unsigned>(n)); };
  int during_saves = 0, finished = 0;
  for (int i = 0; i < 20; ++i) {
    Training child(folder + "/backup", folder + "/result");
    if (i % 4 == 3) {  // in the middle of a save
      for (int n = below(4); n > 0; --n) child.step();
      const Watch watch(folder + "/backup");
      if (watch.wait(10'000)) ++during_saves;
      usleep(static_cast<useconds_t>(below(300)));
    } else {  // anywhere, the start included
      bool alive = true;
      for (int n = below(9); n > 0 && alive; --n) alive = child.step();
      finished += !alive;
      usleep(static_cast<useconds_t>(below(3000)));
    }
    child.kill();
  }
  EXPECT_EQ(during_saves, 5);
  EXPECT_EQ(finished, 0) << "the training was over before the kills were";
  ASSERT_EQ(Training(folder + "/backup", folder + "/result").wait(), 0)
      << text_of(folder + "/result.error");
  EXPECT_TRUE(text_of(folder + "/result") == expected);
  for (const auto& e : std::filesystem::directory_iterator(folder + "/backup"))
    EXPECT_EQ(e.path().string().find("tempstate"), std::string::npos) << e.path();
  std::filesystem::remove_all(folder);
}

}  // namespace
