#pragma once
#include <initializer_list>
#include <span>
#include <vector>

#include "rill/core/attr.h"
#include "rill/core/call_context.h"
#include "rill/core/op.h"
#include "rill/core/operand.h"
#include "rill/core/tensor.h"

namespace rill {

// An input of a call: points at a tensor, so that calling costs no counting.
class In {
 public:
  In(const Tensor& t) : t_(&t) {}
  const Tensor& operator*() const { return *t_; }
  const Tensor* operator->() const { return t_; }

 private:
  const Tensor* t_;
};

// The seam: every op of Rill ends here. Behind it stands eager execution, the graph that is
// being traced, or that of an input that brings its own (keras::Input); nothing above knows
// which. Checks dtypes against the schema, infers shapes, runs or records, and tells the tapes.
// The first form is for ops with one output.
Tensor execute(const Op& op, std::initializer_list<In> inputs,
               std::initializer_list<Attr> attrs = {});
Tensor execute(const Op& op, std::span<const In> inputs, AttrList attrs);
std::vector<Tensor> execute_all(const Op& op, std::span<const In> inputs, AttrList attrs,
                                int num_outputs);
inline std::vector<Tensor> execute_all(const Op& op, std::initializer_list<In> inputs,
                                       std::initializer_list<Attr> attrs = {}) {
  return execute_all(op, std::span<const In>(inputs.begin(), inputs.size()),
                     AttrList(attrs.begin(), attrs.size()), static_cast<int>(op.outputs.size()));
}
std::vector<In> as_inputs(const std::vector<Tensor>& tensors);

// An operand as a tensor for the time of a call: points at the user's tensor,
// or owns the constant made from a literal. Also tells the thread which line
// of the user's program is at work.
class Arg {
 public:
  explicit Arg(const Operand& x, DType dtype = {}) {
    note_call_site(x);
    if (x.kind() == Operand::Kind::tensor)
      t_ = &x.tensor();
    else
      own_ = to_tensor(x, dtype), t_ = &own_;
  }
  Arg(const Arg&) = delete;
  operator In() const { return In(*t_); }
  operator const Tensor&() const { return *t_; }
  const Tensor& operator*() const { return *t_; }
  const Tensor* operator->() const { return t_; }

 private:
  static void note_call_site(const Operand& x);
  Tensor own_;
  const Tensor* t_;
};

// Two operands of a binary op: a literal takes the dtype of its partner. A
// fractional literal beside an integer tensor is an error.
class ArgPair {
 public:
  ArgPair(const Operand& a, const Operand& b);
  const Tensor& first() const { return *a_; }
  const Tensor& second() const { return *b_; }

 private:
  Tensor own_a_, own_b_;
  const Tensor *a_, *b_;
};

// How a call is carried out. Eager execution is installed at start-up; a
// tracing scope puts its own in front for the time of the trace.
class Executor {
 public:
  virtual ~Executor() = default;
  // `shapes` are the inferred shapes, `dtypes` those of the schema.
  virtual void run(const Op& op, std::span<const In> inputs, AttrList attrs,
                   std::span<const TensorShape> shapes, std::span<const DType> dtypes,
                   std::span<Tensor> outputs) = 0;
  // A variable is being made with this initial value: the value itself, worked
  // out at once where it is symbolic.
  virtual Tensor initial_value(const Tensor& t) { return t; }
};

// Listens to calls: the tapes.
class Recorder {
 public:
  virtual ~Recorder() = default;
  virtual void record(const Op& op, std::span<const In> inputs, AttrList attrs,
                      std::span<const Tensor> outputs) = 0;
};

inline void Arg::note_call_site(const Operand& x) {
  if (x.file()) call_context().file = x.file(), call_context().line = x.line();
}

void install_eager_executor(Executor* executor);

}  // namespace rill
