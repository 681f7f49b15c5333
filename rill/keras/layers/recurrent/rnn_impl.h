#pragma once
#include "rill/keras/layers/fields_impl.h"
#include "rill/keras/layers/recurrent/cell_impl.h"

namespace rill::keras {

// The constants of a call: those that came apart, or the last `count` of its inputs, which are
// taken away. InvalidArgument, with `name`, when there are not so many.
std::vector<Tensor> take_constants(std::vector<Tensor>& inputs, const CallContext& context,
                                   std::size_t count, const std::string& name);

// How a cell is taken along a sequence.
struct SequenceFields {
  using Options = layers::RNNOptions;
  template <class F, class O>
  static void visit(F& f, O& o) {
    f("return_sequences", o.return_sequences);
    f("return_state", o.return_state);
    f("go_backwards", o.go_backwards);
    f("stateful", o.stateful);
    f("unroll", o.unroll);
    if constexpr (requires { o.time_major; }) {
      f.in_keras2("time_major", o.time_major);
      f.written_if(o.zero_output_for_mask, "zero_output_for_mask", o.zero_output_for_mask);
    } else {
      f.always_in_keras2("time_major", false);
    }
  }
};

// A cell along a sequence.
class RnnLayer : public LayerImpl {
 public:
  RnnLayer(std::string_view class_name, LayerRef cell, layers::RNNOptions options);

  void build(const std::vector<TensorShape>& shapes) override;
  Nest call_nest(const Nest& inputs, const CallContext& context) override;
  Nest call_ragged(const Nest& inputs, const CallContext& context);
  Tensor compute_mask(const Nest& inputs, const Tensor& mask) override;
  void add_config(Config& config) const override;
  void reset_states() override;
  void expect_constants(std::size_t count) override;
  void reset_states(const std::vector<Tensor>& values);
  // Zeros for the batch of these inputs: as states, and as the output before the first step.
  virtual States initial_state(const Tensor& inputs) const;
  virtual Tensor first_output(const Tensor& inputs) const;

  const LayerRef& cell() const { return cell_; }
  const layers::RNNOptions& options() const { return o_; }
  const std::vector<Variable>& kept_states() const { return kept_; }
  void set_zero_output_for_mask(bool yes) { o_.zero_output_for_mask = yes; }

 protected:
  virtual void build_for_steps(const TensorShape& step);  // makes the weights of the cell
  void add_sequence_config(Config& config) const;

  int batch_axis() const { return o_.time_major ? 1 : 0; }

 private:
  layers::AbstractRNNCell& as_cell_() const { return as_cell(cell_, name()); }

  LayerRef cell_;
  layers::RNNOptions o_;
  std::vector<Variable> kept_;     // of a stateful layer
  std::size_t num_constants_ = 0;  // the last inputs of a call, unless they come apart
};

}  // namespace rill::keras
