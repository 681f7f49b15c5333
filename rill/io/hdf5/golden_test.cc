// Files that h5py wrote (tools/hdf5_goldens.py). Element i of each array is i % 100; of a bool
// array, whether i % 3 is 0.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>

#include "rill/base/error.h"
#include "rill/io/file.h"
#include "rill/io/hdf5.h"
#include "rill/ops/array_ops.h"
#include "tests/expect_error.h"

namespace rill::io {
namespace {

using rill::testing::expect_error;
using ::testing::ElementsAre;
using ::testing::SizeIs;

std::string golden(const std::string& name) {
  const char* root = std::getenv("RILL_SOURCE_DIR");
  return std::string(root ? root : ".") + "/rill/io/testdata/hdf5/" + name;
}

void expect_counted(const Hdf5Reader& r, const std::string& path, const TensorShape& shape,
                    DType dtype) {
  SCOPED_TRACE(r.name() + ": " + path);
  EXPECT_TRUE(r.has_array(path));
  EXPECT_EQ(r.shape(path), shape);
  const Tensor t = r.read(path);
  EXPECT_EQ(t.dtype(), dtype);
  ASSERT_EQ(t.shape(), shape);
  const std::vector<double> got = cast(reshape(t, {-1}), float64).to_vector<double>();
  for (std::size_t i = 0; i < got.size(); ++i)
    ASSERT_EQ(got[i], static_cast<double>(dtype == bool_ ? i % 3 == 0 : i % 100)) << i;
}

// Elements from `begin` to `end` are counted; all others are the fill value 7.
void expect_partly_filled(const Hdf5Reader& r, const std::string& path, std::size_t size,
                          std::size_t begin, std::size_t end) {
  const std::vector<int> got = cast(r.read(path), int32).to_vector<int>();
  ASSERT_EQ(got.size(), size) << path;
  for (std::size_t i = 0; i < size; ++i)
    ASSERT_EQ(got[i], i >= begin && i < end ? static_cast<int>(i % 100) : 7) << path << " " << i;
}

class Hdf5Golden : public ::testing::TestWithParam<const char*> {
 protected:
  const Hdf5Reader file_{golden(GetParam())};
};

TEST_P(Hdf5Golden, Dtypes) {
  for (const DType d :
       {float16, float32, float64, int8, int16, int32, int64, uint8, uint16, uint32, uint64, bool_})
    expect_counted(file_, std::string("dtypes/") + d.name(), {2, 3}, d);
  for (const DType d : {float16, float32, float64, int16})
    expect_counted(file_, std::string("big_endian/") + d.name(), {2, 3}, d);
  expect_counted(file_, "of_named_type", {3}, int16);
  EXPECT_EQ(file_.read("scalar").item<float>(), 2.5f);
  EXPECT_EQ(file_.read("empty").shape(), TensorShape({0, 3}));
  expect_error<errors::Unimplemented>([&] { file_.read("null"); }, "holds nothing");
}

TEST_P(Hdf5Golden, Layouts) {
  expect_counted(file_, "compact", {3, 5}, int32);
  expect_counted(file_, "chunked", {10, 7}, int16);
  expect_counted(file_, "cube", {3, 4, 5}, float32);
  expect_partly_filled(file_, "unwritten", 4, 0, 0);
  const std::vector<int> some = cast(file_.read("some_chunks"), int32).to_vector<int>();
  for (std::size_t i = 0; i < 70; ++i) {
    const std::size_t row = i / 7, column = i % 7;
    const bool is_there = row >= 4 && row < 8 && column >= 3 && column < 6;
    EXPECT_EQ(some[i], is_there ? static_cast<int>(i) : 7) << i;
  }
}

TEST_P(Hdf5Golden, Links) {
  EXPECT_THAT(file_.list("linked"), ElementsAre("array", "circle", "dangling", "group", "hard",
                                                "outside", "relative", "soft", "through"));
  for (const char* name : {"array", "hard", "soft", "relative", "through", "group/group/soft"})
    expect_counted(file_, std::string("linked/") + name, {3}, int32);
  EXPECT_TRUE(file_.has_group("linked/group"));
  EXPECT_FALSE(file_.has_array("linked/dangling"));
  EXPECT_FALSE(file_.has_array("linked/array/array"));
  expect_error<errors::NotFound>([&] { file_.read("linked/dangling"); }, "linked/dangling");
  expect_error<errors::DataLoss>([&] { file_.read("linked/circle"); }, "lead in a circle");
  expect_error<errors::Unimplemented>([&] { file_.read("linked/outside"); },
                                      "\"outside\" is a link to another file");
}

TEST_P(Hdf5Golden, Attributes) {
  EXPECT_EQ(file_.text("attributes", "text"), "of variable length: \u00e4");
  EXPECT_EQ(file_.text("attributes", "bytes"), "of fixed length");
  EXPECT_THAT(file_.texts("attributes", "names"), ElementsAre("a", "longer", ""));
  EXPECT_THAT(file_.texts("attributes", "texts"), ElementsAre("one", "two", "three"));
  EXPECT_THAT(file_.texts("attributes", "none"), SizeIs(0));
  EXPECT_THAT(file_.texts("attributes", "null"), SizeIs(0));
  EXPECT_TRUE(file_.has_attribute("attributes", "number"));
  EXPECT_FALSE(file_.has_attribute("attributes", "another"));
  expect_error<errors::DataLoss>([&] { file_.text("attributes", "number"); }, "holds no text");
  expect_error<errors::DataLoss>([&] { file_.text("attributes", "texts"); }, "holds 3 texts");
  EXPECT_FALSE(file_.has_group("named_type"));
  EXPECT_FALSE(file_.has_array("named_type"));
}

// More than fits into an object's header: trees and heaps.
TEST_P(Hdf5Golden, ManyLinksAndAttributes) {
  const std::vector<std::string> names = file_.list("many_links");
  EXPECT_GE(names.size(), 20u);
  EXPECT_EQ(names.back(), "link_0" + std::to_string(names.size() - 1));
  EXPECT_EQ(file_.read("many_links/link_017").item<float>(), 2.5f);
  for (int i = 0; i < 10; ++i)
    EXPECT_EQ(file_.text("many_attributes", "number_00" + std::to_string(i)),
              "text " + std::to_string(i));
}

INSTANTIATE_TEST_SUITE_P(Of, Hdf5Golden, ::testing::Values("old.h5", "latest.h5"),
                         [](const auto& i) { return std::string(i.param, strcspn(i.param, ".")); });

TEST(Hdf5, AHugeAttribute) {
  EXPECT_EQ(Hdf5Reader(golden("latest.h5")).text("many_attributes", "huge"),
            std::string(4100, 'x'));
}

TEST(Hdf5, Filters) {
  const Hdf5Reader r(golden("old.h5"));
  expect_counted(r, "gzip", {20, 7}, int16);
  expect_counted(r, "shuffle", {20, 7}, float32);
  expect_counted(r, "fletcher32", {21}, uint8);
  expect_counted(r, "all_filters", {20, 7}, int64);
  expect_error<errors::Unimplemented>([&] { r.read("lzf"); }, "packed by the filter lzf");
}

TEST(Hdf5, KindsWithoutTensor) {
  const Hdf5Reader r(golden("old.h5"));
  for (const char* name : {"refused/compound", "refused/opaque"})
    expect_error<errors::Unimplemented>([&] { r.read(name); }, "there is no tensor");
}

TEST(Hdf5, IndexesOfChunks) {
  const Hdf5Reader r(golden("indexes.h5"));
  expect_counted(r, "implicit", {10, 7}, int16);
  expect_counted(r, "single", {5, 7}, int16);
  expect_counted(r, "single_gzip", {5, 7}, int16);
  expect_counted(r, "fixed", {10, 7}, int16);
  expect_counted(r, "fixed_gzip", {10, 7}, int16);
  expect_counted(r, "fixed_may_grow", {10, 7}, int16);
  expect_partly_filled(r, "fixed_paged", 1100, 1040, 1060);
  expect_counted(r, "extensible", {12}, int16);
  expect_counted(r, "extensible_gzip", {60}, int16);
  expect_partly_filled(r, "extensible_super", 400, 300, 310);
  expect_counted(r, "extensible_second", {5, 7}, int16);
  expect_counted(r, "extensible_middle", {3, 4, 5}, int16);
  expect_counted(r, "btree_gzip", {5, 7}, int16);
  expect_counted(r, "btree_deep", {10, 12}, uint8);
}

// Other superblocks, a user block, addresses of 4 bytes.
TEST(Hdf5, Frames) {
  for (const char* name : {"user_block.h5", "narrow.h5", "superblock2.h5"}) {
    SCOPED_TRACE(name);
    const Hdf5Reader on_disk(golden(name)), in_memory(file_contents(golden(name)), "memory");
    for (const Hdf5Reader* r : {&on_disk, &in_memory}) {
      expect_counted(*r, "array", {2, 3}, float32);
      EXPECT_EQ(r->read("group/scalar").item<float>(), 2.5f);
      EXPECT_THAT(r->texts("group", "names"), ElementsAre("a", "longer"));
    }
  }
  const Hdf5Reader narrow(golden("narrow.h5"));
  expect_counted(narrow, "chunked", {10}, int16);
  EXPECT_EQ(narrow.text("group", "text"), "of variable length");
}

}  // namespace
}  // namespace rill::io
