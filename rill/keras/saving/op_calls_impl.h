#pragma once
#include "rill/keras/engine/op_layer_impl.h"
#include "rill/keras/saving/call_config_impl.h"
#include "rill/keras/saving/op_forms_impl.h"

// Calls of ops in configurations: ["dense", 0, 0, {"y": 2.0, "name": null}] in Keras 2, a record
// with "args" and "kwargs" in Keras 3. Both are written and read by the rows of op_forms.cc.
namespace rill::keras {

// The call of an op in a model, as writers ask for it.
class DrawnOp {
 public:
  DrawnOp(const KerasNode& node, const TensorPlace& place);
  // Unimplemented for an op, or an argument, that has no form in files.
  WrittenCall written() const;

  const std::string& name() const { return layer_.name(); }
  const Tensor& tensor(std::string_view input) const;
  // The value of an input, `what` to a reader, that the model does not compute.
  Config constant(std::string_view input, std::string_view what) const;
  const AttrValue& attr(std::string_view name) const;

 private:
  Config argument(const OpArgument& a) const;
  Config first(const OpForm& form) const;
  std::size_t offset(int input) const;  // of its first tensor
  const KerasNode& node_;
  const OpLayer& layer_;
  const Op& op_;
  std::vector<Tensor> inputs_;
  const TensorPlace& place_;
};

// ---- Keras 2
Config keras2_config(const WrittenCall& call);
// Of the function, "math.multiply", and what "inbound_nodes" holds of one call. Unimplemented for a
// function that Rill does not read.
WrittenCall keras2_call(const std::string& function, const Config& call);

// ---- Keras 3
// Whether the record of a layer is that of an op; of those that are called as layers are, only
// the configuration tells.
bool is_keras3_op(const Config& record);
// Unimplemented for an op, or an argument, that Rill does not read.
WrittenCall keras3_call(const std::string& class_name, const Config& op, const Config& call);
// The record of a TFOpLambda (places as they are in Keras 3) as that of Keras 3's op. Unimplemented
// for a function, or an argument, that Keras 3 has no op for.
Config keras3_op_record(const Config& record);
// The place of a tensor, ["dense", 0, 0], as Keras 3 writes it.
Config keras3_tensor(const Config& place);

// ---- values
// Numbers in lists. Unimplemented for what is not a number, and for a very large tensor.
Config constant_config(const Tensor& t);
Config attr_config(const AttrValue& value);
// Keras 3's tuples and slices are records with their own class: what they hold.
Config without_record(const Config& c);

}  // namespace rill::keras
