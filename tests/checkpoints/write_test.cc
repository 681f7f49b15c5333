// What tools/checkpoints.py lets TensorFlow read: checkpoints and event files in the folder
// RILL_CHECKPOINT_OUT, or one of this test's own, where they are only read back.
#include <gtest/gtest.h>

#include <fstream>

#include "rill/io/file.h"
#include "rill/saving/tensor_bundle.h"
#include "training.h"

namespace rill::checkpoints {
namespace {

using saving_tests::golden;

std::string out(const std::string& name) {
  static const std::string folder = [] {
    const char* given = std::getenv("RILL_CHECKPOINT_OUT");
    return given ? std::string(given) : saving_tests::fresh_folder("interchange");
  }();
  io::create_folders(folder + "/" + name);
  return folder + "/" + name;
}

TEST(Interchange, EveryType) {
  const BundleReader theirs(golden("every_type"));
  const std::string prefix = out("every_type") + "/tensors";
  BundleWriter ours(prefix);
  for (const std::string& key : theirs.keys()) ours.add(key, theirs.read(key));
  ours.finish();
  EXPECT_EQ(BundleReader(prefix).keys(), theirs.keys());
}

TEST(Interchange, ManyTensors) {
  const std::string prefix = out("many") + "/tensors";
  BundleWriter ours(prefix);
  for (int i = 0; i < 3000; ++i)
    ours.add(format("group_{}/{:05d}/{}", i / 7, i, std::string(150, 'n')), tf::constant({i, -i}));
  ours.finish();
  EXPECT_EQ(BundleReader(prefix).keys().size(), 3000u);
}

TEST(Interchange, NestedObjects) {
  const tf::Variable x(2.f, {.name = "x"}), w(tf::constant({{1.f, 2.f}}), {.name = "w"}),
      b(tf::constant(3, tf::int64), {.name = "b"});
  const tf::train::Checkpoint inner({{"w", w}, {"a/b.c", b}});
  const tf::train::Checkpoint all(
      {{"x", x}, {"inner", inner}, {"list", std::vector<tf::Variable>{w, b}}, {"again", w}});
  EXPECT_TRUE(tf::train::checkpoint_exists(all.save(out("nested") + "/nested")));
}

TEST(Interchange, Optimizers) {
  std::ofstream after(out("optimizers") + "/after.txt");
  after.precision(9);
  for (const auto& [name, make] : optimizers()) {
    Training t(make());
    t.steps(0, 3);
    t.checkpoint().save(out("optimizers") + "/" + name);
    t.steps(3, 5);
    after << name;
    for (float v : t.values()) after << ' ' << v;
    after << '\n';
  }
  EXPECT_TRUE(after.good());
}

TEST(Interchange, ManagedFolder) {
  const tf::Variable x(0.f);
  tf::train::CheckpointManager manager(tf::train::Checkpoint({{"x", x}}),
                                       {.directory = out("managed"), .max_to_keep = 3});
  for (int batch = 0; batch <= 500; batch += 100) {
    x.assign(static_cast<float>(batch));
    manager.save({.checkpoint_number = batch});
  }
  EXPECT_EQ(manager.checkpoints().size(), 3u);
}

TEST(Interchange, Events) {
  const auto writer = tf::summary::create_file_writer(out("events"));
  {
    const auto scope = writer.as_default();
    for (int batch = 0; batch < 20; ++batch) {
      tf::summary::scalar("loss", 1.0 / (batch + 1), {.step = batch});
      tf::summary::scalar("MyScalar", batch * batch, {.step = batch, .description = "squares"});
    }
  }
  writer.close();
  EXPECT_EQ(tf::summary::summary_iterator(writer.path()).size(), 41u);
}

TEST(Interchange, Records) {
  for (const char* compression : {"", "ZLIB", "GZIP"}) {
    tf::io::TFRecordWriter w(out("records") + "/records" + compression,
                             {.compression_type = compression});
    for (int i = 0; i < 100; ++i) w.write(std::string(static_cast<std::size_t>(i * i), 'r'));
    w.close();
  }
}

}  // namespace
}  // namespace rill::checkpoints
