#include <algorithm>

#include "rill/base/check.h"
#include "rill/keras/engine/registered_layers.h"
#include "rill/keras/layers/recurrent/cell_impl.h"

namespace rill::keras {

namespace {

class StackedCells : public CellImpl {
 public:
  StackedCells(std::vector<LayerRef> cells, LayerOptions o)
      : CellImpl("StackedRNNCells", std::move(o)), cells_(std::move(cells)) {
    RILL_CHECK(!cells_.empty(), invalid_argument, "[StackedRNNCells] got no cells");
    std::vector<Ref<LayerImpl>> list;
    for (const LayerRef& cell : cells_) {
      as_cell(cell, "StackedRNNCells");
      list.push_back(LayerObjects::impl_of(*cell));
    }
    track_list("cells", list);
  }

  std::vector<TensorShape> state_size() const override {
    std::vector<TensorShape> all;
    for (const LayerRef& c : cells_)
      for (const TensorShape& s : as_cell(c, name()).state_size()) all.push_back(s);
    return all;
  }
  TensorShape output_size() const override { return as_cell(cells_.back(), name()).output_size(); }

  void build(const std::vector<TensorShape>& shapes) override {
    TensorShape step = shapes[0];
    for (const LayerRef& c : cells_) {
      build_cell(c, step);
      TensorShape next = TensorShape::scalar();
      next.push_back(step.dim(0));
      for (const std::int64_t n : as_cell(c, name()).output_size().as_list()) next.push_back(n);
      step = next;
    }
  }

  std::unique_ptr<CellRun> begin(const BatchSize& batch, const CallContext& context,
                                 Extent extent) override {
    auto run = std::make_unique<Run>();
    for (const LayerRef& c : cells_)
      run->parts.push_back(
          {begin_run(c, batch, context, extent), as_cell(c, name()).state_size().size()});
    return run;
  }
  void reset_dropout(bool inputs, bool states) override {
    for (const LayerRef& c : cells_)
      if (auto* cell = dynamic_cast<CellImpl*>(&c->impl())) cell->reset_dropout(inputs, states);
  }
  bool takes_constants() const override {
    return std::any_of(cells_.begin(), cells_.end(),
                       [](const LayerRef& c) { return keras::takes_constants(c); });
  }
  void expect_constants(std::size_t) override {}
  void add_config(Config& c) const override {
    Config list = Config::list();
    for (const LayerRef& cell : cells_) list.push_back(layers::serialize(*cell));
    c.set("cells", list);
  }

 private:
  class Run : public CellRun {
   public:
    struct Part {
      std::unique_ptr<CellRun> run;
      std::size_t num_states;
    };
    std::vector<Part> parts;
    Tensor project(const Tensor& x) override { return parts[0].run->project(x); }
    StepResult advance(const Tensor& projected, const States& states) override {
      Tensor x = projected;
      States next;
      auto from = states.begin();
      for (const Part& p : parts) {
        const States own(from, from + static_cast<std::ptrdiff_t>(p.num_states));
        from += static_cast<std::ptrdiff_t>(p.num_states);
        const bool first = &p == &parts[0];
        auto [output, now] = p.run->advance(first ? x : p.run->project(x), own);
        x = output;
        next.insert(next.end(), now.begin(), now.end());
      }
      return {x, next};
    }
  };

  std::vector<LayerRef> cells_;
};

const RegisterLayer registered_stacked_cells("StackedRNNCells", [](const Config& c) -> LayerRef {
  std::vector<LayerRef> cells;
  for (const Config& cell : c["cells"].items()) cells.push_back(layers::deserialize(cell));
  return layers::StackedRNNCells(std::move(cells), LayerOptions::from_config(c));
});

}  // namespace

layers::StackedRNNCells::StackedRNNCells(std::vector<LayerRef> cells, LayerOptions o)
    : AbstractRNNCell(this, new StackedCells(std::move(cells), std::move(o))) {}

}  // namespace rill::keras
