#pragma once
#include "rill/keras/layers/recurrent.h"
#include "rill/keras/layers/weight_config_impl.h"

namespace rill::keras {

// The arguments that cells and the layers over them share; each kind has those of it that its
// options struct has.
struct CellArguments {
  enum class Kind : unsigned char { simple, gru, lstm } kind = Kind::simple;
  std::int64_t units = 0;
  Activation activation = {}, recurrent_activation = {};
  bool use_bias = true;
  Initializer kernel_initializer = {}, recurrent_initializer = {}, bias_initializer = {};
  bool unit_forget_bias = true;
  Regularizer kernel_regularizer = {}, recurrent_regularizer = {}, bias_regularizer = {},
              activity_regularizer = {};
  Constraint kernel_constraint = {}, recurrent_constraint = {}, bias_constraint = {};
  double dropout = 0, recurrent_dropout = 0;
  bool reset_after = true;
  int implementation = 2;

  // InvalidArgument, with the name of the class, for what cannot be.
  void check(std::string_view class_name);
  // In Keras's order; layers have an activity_regularizer.
  void add_to(Config& config, bool of_layer) const;
};

template <class O>
CellArguments arguments_from(const O& o) {
  CellArguments a;
  a.units = o.units;
  a.activation = o.activation;
  a.use_bias = o.use_bias;
  a.kernel_initializer = o.kernel_initializer;
  a.recurrent_initializer = o.recurrent_initializer;
  a.bias_initializer = o.bias_initializer;
  a.kernel_regularizer = o.kernel_regularizer;
  a.recurrent_regularizer = o.recurrent_regularizer;
  a.bias_regularizer = o.bias_regularizer;
  a.kernel_constraint = o.kernel_constraint;
  a.recurrent_constraint = o.recurrent_constraint;
  a.bias_constraint = o.bias_constraint;
  a.dropout = o.dropout;
  a.recurrent_dropout = o.recurrent_dropout;
  if constexpr (requires { o.activity_regularizer; })
    a.activity_regularizer = o.activity_regularizer;
  if constexpr (requires { o.recurrent_activation; }) {
    a.recurrent_activation = o.recurrent_activation;
    a.implementation = o.implementation;
  }
  if constexpr (requires { o.reset_after; }) {
    a.kind = CellArguments::Kind::gru;
    a.reset_after = o.reset_after;
  }
  if constexpr (requires { o.unit_forget_bias; }) {
    a.kind = CellArguments::Kind::lstm;
    a.unit_forget_bias = o.unit_forget_bias;
  }
  return a;
}

// The fields of an options struct that hold such arguments, from a configuration.
template <class O>
void read_arguments(const Config& c, O& o) {
  o.units = c["units"].as_int();
  if (c.contains("activation")) o.activation = Activation::deserialize(c["activation"]);
  o.use_bias = c.get("use_bias", true);
  o.kernel_initializer = deserialize_initializer(c.get("kernel_initializer"), o.kernel_initializer);
  o.recurrent_initializer =
      deserialize_initializer(c.get("recurrent_initializer"), o.recurrent_initializer);
  o.bias_initializer = deserialize_initializer(c.get("bias_initializer"), o.bias_initializer);
  o.kernel_regularizer = Regularizer::deserialize(c.get("kernel_regularizer"));
  o.recurrent_regularizer = Regularizer::deserialize(c.get("recurrent_regularizer"));
  o.bias_regularizer = Regularizer::deserialize(c.get("bias_regularizer"));
  o.kernel_constraint = Constraint::deserialize(c.get("kernel_constraint"));
  o.recurrent_constraint = Constraint::deserialize(c.get("recurrent_constraint"));
  o.bias_constraint = Constraint::deserialize(c.get("bias_constraint"));
  o.dropout = c.get("dropout", 0.0);
  o.recurrent_dropout = c.get("recurrent_dropout", 0.0);
  if constexpr (requires { o.activity_regularizer; })
    o.activity_regularizer = Regularizer::deserialize(c.get("activity_regularizer"));
  if constexpr (requires { o.recurrent_activation; }) {
    if (c.contains("recurrent_activation"))
      o.recurrent_activation = Activation::deserialize(c["recurrent_activation"]);
    o.implementation = static_cast<int>(c.get("implementation", 2));
  }
  if constexpr (requires { o.reset_after; }) o.reset_after = c.get("reset_after", true);
  if constexpr (requires { o.unit_forget_bias; })
    o.unit_forget_bias = c.get("unit_forget_bias", true);
}

}  // namespace rill::keras
