#pragma once
#include <memory>
#include <optional>

#include "rill/keras/engine/layer_impl.h"
#include "rill/keras/layers/recurrent.h"

namespace rill::keras {

using States = std::vector<Tensor>;
using StepResult = std::pair<Tensor, States>;

// How many samples a batch has: a number, or a scalar of the graph that is being traced.
struct BatchSize {
  std::int64_t known = -1;
  Tensor scalar = {};
  static BatchSize of(const Tensor& x, int axis);
  // [batch, each...] filled with zeros, or with ones.
  Tensor zeros(const TensorShape& each, DType dtype) const;
  Tensor ones(const TensorShape& each, DType dtype) const;

 private:
  Tensor filled(double value, const TensorShape& each, DType dtype) const;
};

// What one op gives for all steps of a sequence.
struct WholeSequence {
  Tensor outputs;  // [time, batch, units]
  States states;   // after the last step
};

// A cell at work on one sequence: its weights are read once, its dropout is drawn once.
class CellRun {
 public:
  virtual ~CellRun() = default;
  // The part of a step that needs no state, for any number of steps at once: x [.., features].
  virtual Tensor project(const Tensor& x) = 0;
  // The rest of one step.
  virtual StepResult advance(const Tensor& projected, const States& states) = 0;
  // All steps of x [time, batch, features] at once; none where no op does what this cell does.
  virtual std::optional<WholeSequence> whole(const Tensor& /*x*/, const States& /*states*/) {
    return std::nullopt;
  }
};

// A cell of the library.
class CellImpl : public LayerImpl {
 public:
  CellImpl(std::string_view class_name, LayerOptions options);
  virtual std::vector<TensorShape> state_size() const = 0;
  virtual TensorShape output_size() const { return state_size().at(0); }
  // A single step is part of a sequence of which only the caller knows: it keeps its dropout.
  enum class Extent : unsigned char { sequence, single_step };
  virtual std::unique_ptr<CellRun> begin(const BatchSize& batch, const CallContext& context,
                                         Extent extent) = 0;
  virtual void reset_dropout(bool /*inputs*/, bool /*states*/) {}
  virtual bool takes_constants() const { return false; }
  Nest call_nest(const Nest& inputs, const CallContext& context) override;
};

// A handle on a cell of which only the impl is known.
class CellHandle : public layers::AbstractRNNCell {
 public:
  explicit CellHandle(CellImpl* cell) : AbstractRNNCell(Ref<LayerImpl>(cell)) {}
};

// The cell in a container. InvalidArgument, with `where`, for a layer that is not a cell.
layers::AbstractRNNCell& as_cell(const LayerRef& layer, std::string_view where);
// Whether it does something with CallContext::constants: users' classes may.
bool takes_constants(const LayerRef& cell);
// Makes the weights of a cell inside another layer, for steps of this shape.
void build_cell(const LayerRef& cell, const TensorShape& step_shape);
// A cell of the library, or a user's class, at work.
std::unique_ptr<CellRun> begin_run(const LayerRef& cell, const BatchSize& batch,
                                   const CallContext& context, CellImpl::Extent extent);

}  // namespace rill::keras
