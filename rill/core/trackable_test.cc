#include "rill/core/trackable.h"

#include <gtest/gtest.h>

#include <map>

#include "rill/base/error.h"
#include "rill/core/operand.h"
#include "rill/core/resource.h"

namespace rill {
namespace {

// A checkpoint in memory: objects by number, with edges and values.
struct Saved {
  struct Object {
    std::map<std::string, int, std::less<>> edges;
    std::map<std::string, Tensor, std::less<>> values;
    int uses = 0;
  };
  std::map<int, Object> objects;
};
class Position : public RestorePosition {
 public:
  Position(Saved& saved, int id) : saved_(saved), id_(id) {}
  Ref<RestorePosition> child(std::string_view edge) override {
    auto& edges = saved_.objects[id_].edges;
    const auto e = edges.find(edge);
    return e == edges.end() ? Ref<RestorePosition>()
                            : Ref<RestorePosition>(new Position(saved_, e->second));
  }
  bool value(std::string_view key, Tensor* out) override {
    auto& values = saved_.objects[id_].values;
    const auto v = values.find(key);
    if (v != values.end()) *out = v->second;
    return v != values.end();
  }
  std::uint64_t identity() const override { return static_cast<std::uint64_t>(id_); }
  void used_by(TrackableNode&) override { ++saved_.objects[id_].uses; }

 private:
  Saved& saved_;
  int id_;
};
Ref<RestorePosition> root(Saved& s) { return Ref<RestorePosition>(new Position(s, 0)); }

Ref<TrackableNode> node() { return Ref<TrackableNode>(new TrackableNode); }
Ref<TrackableNode> variable(const Tensor& value) {
  auto* cell = new VariableCell;
  cell->dtype = value.dtype();
  cell->shape = value.shape();
  cell->name = "v";
  cell->assign(value);
  return Ref<TrackableNode>(cell);
}
float value_of(const Ref<TrackableNode>& n) { return n->saved_values().at(0).value.item<float>(); }

// layer/kernel = 7
Saved one_layer() {
  Saved s;
  s.objects[0].edges["layer"] = 1;
  s.objects[1].edges["kernel"] = 2;
  s.objects[2].values["VARIABLE_VALUE"] = to_tensor(7.f);
  return s;
}

TEST(Trackable, ChildrenStandUnderTheirNames) {
  const auto a = node(), b = node(), c = node();
  a->track("first", b);
  a->track("second", c);
  a->track("first", b);
  ASSERT_EQ(a->edges().size(), 2u);
  EXPECT_EQ(a->child("first"), b.get());
  EXPECT_EQ(a->child("third"), nullptr);
  a->track("first", c);
  EXPECT_EQ(a->child("first"), c.get());
  EXPECT_EQ(a->edges().size(), 2u);
  EXPECT_THROW(a->track("", b), errors::InvalidArgument);
  EXPECT_THROW(a->track("x", Ref<TrackableNode>()), errors::InvalidArgument);
}

TEST(Trackable, RestoresWhatIsThere) {
  Saved s = one_layer();
  const auto model = node(), layer = node(), kernel = variable(to_tensor(0.f));
  layer->track("kernel", kernel);
  model->track("layer", layer);
  model->restore(root(s));
  EXPECT_EQ(value_of(kernel), 7.f);
  EXPECT_EQ(s.objects[2].uses, 1);
}

TEST(Trackable, WhatComesLaterTakesItsValuesThen) {
  Saved s = one_layer();
  const auto model = node(), layer = node(), kernel = variable(to_tensor(0.f));
  model->restore(root(s));
  EXPECT_EQ(s.objects[2].uses, 0);
  model->track("layer", layer);
  layer->track("kernel", kernel);
  EXPECT_EQ(value_of(kernel), 7.f);
}

TEST(Trackable, CyclesEnd) {
  Saved s;
  s.objects[0].edges["next"] = 1;
  s.objects[1].edges["back"] = 0;
  const auto a = node(), b = node();
  a->track("next", b);
  b->track("back", a);
  a->restore(root(s));
  EXPECT_EQ(s.objects[0].uses, 1);
  EXPECT_EQ(s.objects[1].uses, 1);
  b->track("back", node());  // let go of the cycle
}

TEST(Trackable, AValueThatDoesNotFitChangesNothing) {
  Saved s = one_layer();
  s.objects[2].values["VARIABLE_VALUE"] = to_tensor(7.0, float64);
  const auto model = node(), layer = node(), kernel = variable(to_tensor(1.f));
  layer->track("kernel", kernel);
  model->track("layer", layer);
  EXPECT_THROW(model->restore(root(s)), errors::InvalidArgument);
  EXPECT_EQ(value_of(kernel), 1.f);
}

}  // namespace
}  // namespace rill
