#include "rill/summary/summary.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <thread>

#include "rill/graph/function/function.h"
#include "rill/graph/ir/name_scope.h"
#include "rill/io/file.h"
#include "rill/io/tf_record.h"
#include "rill/ops/array_ops.h"
#include "rill/ops/math_ops.h"
#include "rill/summary/event_reader.h"
#include "tests/expect_error.h"
#include "tests/scratch_folder.h"
#include "tests/shows.h"

namespace rill::summary {

// Of event_file_impl.h, as bytes: tests see no protocol buffers.
std::string first_event_bytes(double wall_time);
std::string scalar_event_bytes(double wall_time, std::int64_t step, const std::string& tag,
                               float value);

namespace {

using rill::testing::expect_error;

std::string fresh_folder(const std::string& name) {
  const std::string path = rill::testing::scratch_folder() + "/" + name;
  std::filesystem::remove_all(path);
  return path;
}
// Tag, step and value of all scalars of a file.
struct Point {
  std::string tag;
  std::int64_t step;
  float value;
  bool operator==(const Point&) const = default;
};
void PrintTo(const Point& p, std::ostream* os) { *os << p.tag << '@' << p.step << '=' << p.value; }
std::vector<Point> points(const SummaryWriter& w) {
  std::vector<Point> out;
  for (const SummaryEvent& e : summary_iterator(w.path()))
    for (const SummaryValue& v : e.values) out.push_back({v.tag, e.step, v.tensor.item<float>()});
  return out;
}

TEST(Summary, AFileThatTensorBoardFinds) {
  RILL_SHOWS("V01");
  const std::string folder = fresh_folder("tensorboard");
  const SummaryWriter writer = create_file_writer(folder);
  const auto names = io::list_folder(folder);
  ASSERT_EQ(names.size(), 1u);
  EXPECT_TRUE(names[0].starts_with("events.out.tfevents.")) << names[0];
  EXPECT_TRUE(names[0].ends_with(".v2")) << names[0];
  EXPECT_EQ(io::join_path(folder, names[0]), writer.path());
  // The first event is there at once.
  const auto events = summary_iterator(writer.path());
  ASSERT_EQ(events.size(), 1u);
  EXPECT_EQ(events[0].file_version, "brain.Event:2");
  EXPECT_GT(events[0].wall_time, 1.6e9);
}

TEST(Summary, ScalarsOfATraining) {
  RILL_SHOWS("V02", "V03", "P64");
  const SummaryWriter writer = create_file_writer(fresh_folder("scalars"));
  EXPECT_FALSE(scalar("loss", 1.0, {.step = 0}));  // nobody listens
  {
    const auto scope = writer.as_default();
    for (int batch = 0; batch < 3; ++batch) {
      const Tensor loss = constant(1.f) / static_cast<float>(batch + 1);
      EXPECT_TRUE(scalar("loss", loss, {.step = batch}));
      scalar("MyScalar", batch * 10, {.step = batch, .description = "ten a batch"});
    }
  }
  EXPECT_FALSE(scalar("loss", 1.0, {.step = 3}));
  writer.close();
  EXPECT_EQ(points(writer), (std::vector<Point>{{"loss", 0, 1.f},
                                                {"MyScalar", 0, 0.f},
                                                {"loss", 1, 0.5f},
                                                {"MyScalar", 1, 10.f},
                                                {"loss", 2, 1.f / 3},
                                                {"MyScalar", 2, 20.f}}));
  const SummaryValue v = summary_iterator(writer.path())[2].values[0];
  EXPECT_EQ(v.plugin, "scalars");
  EXPECT_EQ(v.description, "ten a batch");
  EXPECT_EQ(v.tensor.dtype(), float32);
  EXPECT_EQ(v.tensor.shape(), TensorShape::scalar());
}

TEST(Summary, ValuesAreFlushedAsTheyCome) {
  RILL_SHOWS("V07");
  const SummaryWriter counted = create_file_writer(fresh_folder("queue"), {.max_queue = 2});
  const auto scope = counted.as_default();
  scalar("x", 1.f, {.step = 0});
  scalar("x", 2.f, {.step = 1});
  EXPECT_EQ(points(counted).size(), 0u);
  scalar("x", 3.f, {.step = 2});  // one more than may wait
  EXPECT_EQ(points(counted).size(), 3u);
  scalar("x", 4.f, {.step = 3});
  counted.flush();
  EXPECT_EQ(points(counted).size(), 4u);

  const SummaryWriter timed = create_file_writer(fresh_folder("time"), {.flush_millis = 1});
  timed.set_as_default();
  std::this_thread::sleep_for(std::chrono::milliseconds(2));
  scalar("x", 1.f, {.step = 0});
  EXPECT_EQ(points(timed).size(), 1u);
}

TEST(Summary, ANewRunIsANewFileInAnyFolder) {
  RILL_SHOWS("V08", "V09", "Z25");
  const std::string folder = fresh_folder("\xe6\x97\xa5\xe5\xbf\x97 log");  // not ASCII
  const SummaryWriter first = create_file_writer(folder), second = create_file_writer(folder);
  EXPECT_NE(first.path(), second.path());
  EXPECT_EQ(io::list_folder(folder).size(), 2u);
  std::filesystem::remove_all(folder);  // the old run is deleted; the next begins again
  const SummaryWriter third = create_file_writer(folder);
  EXPECT_EQ(io::list_folder(folder).size(), 1u);
  EXPECT_EQ(summary_iterator(third.path()).size(), 1u);
}

TEST(Summary, WritersNestAndStandBack) {
  const SummaryWriter outer = create_file_writer(fresh_folder("outer")),
                      inner = create_file_writer(fresh_folder("inner"));
  {
    const auto a = outer.as_default();
    {
      const auto b = inner.as_default();
      scalar("x", 1.f, {.step = 0});
    }
    scalar("x", 2.f, {.step = 0});
    std::thread([&] { EXPECT_FALSE(should_record_summaries()); }).join();  // a thread has its own
  }
  outer.flush();
  inner.flush();
  EXPECT_EQ(points(inner), (std::vector<Point>{{"x", 0, 1.f}}));
  EXPECT_EQ(points(outer), (std::vector<Point>{{"x", 0, 2.f}}));
  {
    const auto none = create_noop_writer().as_default();
    EXPECT_FALSE(scalar("x", 2.f, {.step = 0}));
  }
}

TEST(Summary, StepsOfTheThread) {
  const SummaryWriter writer = create_file_writer(fresh_folder("steps"));
  Variable step(constant(5, int64));
  {
    const auto scope = writer.as_default(7);
    scalar("x", 1.f);
    experimental::set_step(step);
    scalar("x", 2.f);
    step.assign_add(1);
    scalar("x", 3.f);
    scalar("x", 4.f, {.step = constant(1)});
  }
  EXPECT_FALSE(experimental::get_step().given());
  writer.flush();
  EXPECT_EQ(points(writer),
            (std::vector<Point>{{"x", 7, 1.f}, {"x", 5, 2.f}, {"x", 6, 3.f}, {"x", 1, 4.f}}));
}

TEST(Summary, ConditionsAndScopes) {
  const SummaryWriter writer = create_file_writer(fresh_folder("conditions"));
  const auto scope = writer.as_default();
  EXPECT_TRUE(should_record_summaries());
  for (int i = 0; i < 6; ++i) {
    const auto sometimes = record_if([i] { return i % 3 == 0; });
    EXPECT_EQ(should_record_summaries(), i % 3 == 0);
    const name_scope train("train");
    EXPECT_EQ(scalar("loss", i, {.step = i}), i % 3 == 0);
  }
  writer.flush();
  EXPECT_EQ(points(writer), (std::vector<Point>{{"train/loss", 0, 0.f}, {"train/loss", 3, 3.f}}));
}

TEST(Summary, ATracedFunctionWritesAtEachCall) {
  const SummaryWriter writer = create_file_writer(fresh_folder("traced"));
  Variable step(constant(0, int64));
  auto train = function([&](Tensor x) {
    const auto scope = writer.as_default();
    scalar("square", x * x, {.step = step});
    step.assign_add(1);
    return x;
  });
  for (float x : {2.f, 3.f}) train(constant(x));
  writer.flush();
  EXPECT_EQ(points(writer), (std::vector<Point>{{"square", 0, 4.f}, {"square", 1, 9.f}}));
}

TEST(Summary, ThreadsMayShareAWriter) {
  const SummaryWriter writer = create_file_writer(fresh_folder("threads"));
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&, t] {
      const auto scope = writer.as_default();
      for (int i = 0; i < 200; ++i) scalar("t" + std::to_string(t), i, {.step = i});
    });
  for (auto& t : threads) t.join();
  writer.flush();
  EXPECT_EQ(points(writer).size(), 800u);
}

TEST(Summary, ErrorsSayWhatIsWrong) {
  const SummaryWriter writer = create_file_writer(fresh_folder("errors"));
  const auto scope = writer.as_default();
  expect_error<errors::FailedPrecondition>([] { scalar("loss", 1.f); }, "\"loss\" has no step");
  expect_error<errors::InvalidArgument>(
      [] {
        scalar("loss", constant({1.f, 2.f}), {.step = 0});
      },
      "float32 of shape [2]; expected one number");
  expect_error<errors::InvalidArgument>([] { scalar("loss", constant("x"), {.step = 0}); },
                                        "string");
  expect_error<errors::InvalidArgument>([] { scalar("x", 1.f, {.step = constant(0.5f)}); },
                                        "the step is float32");
  writer.close();
  expect_error<errors::FailedPrecondition>([] { scalar("x", 1.f, {.step = 0}); }, "was closed");
  expect_error<errors::InvalidArgument>([] { create_file_writer(""); }, "no folder");
  const std::string path = writer.path();
  io::TFRecordWriter other(path);
  other.write("\xff\xff\xff");
  other.close();
  expect_error<errors::DataLoss>([&] { summary_iterator(path); }, "record at 0 in \"" + path);
}

std::string hex(std::string_view bytes) {
  std::string out;
  for (unsigned char c : bytes) out += format("{:02x}", static_cast<int>(c));
  return out;
}

TEST(Summary, EventsHaveTensorFlowsBytes) {
  EXPECT_EQ(hex(first_event_bytes(1700000000.25)),
            "0900000040fc54d9411a0d627261696e2e4576656e743a32");
  EXPECT_EQ(
      hex(scalar_event_bytes(1700000001.0, 1, "loss", 0.5f)),
      "0900004040fc54d94110012a210a1f0a046c6f7373420a0801120022040000003f4a0b0a090a077363616c61"
      "7273");
}

}  // namespace
}  // namespace rill::summary
