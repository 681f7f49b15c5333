#pragma once
#include "rill/keras/layers/fields_impl.h"
#include "rill/keras/layers/recurrent.h"

namespace rill::keras {

// The arguments that cells and the layers over them share; each kind has those of it that its
// options struct has.
struct CellArguments {
  enum class Kind : unsigned char { simple, gru, lstm } kind = Kind::simple;
  bool of_layer = false;  // which has an activity_regularizer
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
};

// The initializer of an LSTM's bias, of which the forget gate starts as 1 where that is asked for.
Initializer with_forget_bias(const Initializer& given, std::int64_t units, bool unit_forget_bias);

template <class O>
CellArguments::Kind kind_of(const O& o) {
  using Kind = CellArguments::Kind;
  if constexpr (requires { o.kind; })
    return o.kind;
  else if constexpr (requires { o.reset_after; })
    return Kind::gru;
  else
    return requires { o.unit_forget_bias; }
  ? Kind::lstm : Kind::simple;
}
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
  if constexpr (requires { o.activity_regularizer; }) {
    a.of_layer = true;
    a.activity_regularizer = o.activity_regularizer;
  }
  if constexpr (requires { o.recurrent_activation; }) {
    a.recurrent_activation = o.recurrent_activation;
    a.implementation = o.implementation;
  }
  a.kind = kind_of(o);
  if constexpr (requires { o.reset_after; }) a.reset_after = o.reset_after;
  if constexpr (requires { o.unit_forget_bias; }) a.unit_forget_bias = o.unit_forget_bias;
  return a;
}

// The fields of CellArguments, or of an options struct, in Keras's order.
template <class F, class O>
void visit_cell(F& f, O& o) {
  using Kind = CellArguments::Kind;
  const Kind kind = kind_of(o);
  f.required("units", o.units);
  f("activation", o.activation);
  if constexpr (requires { o.recurrent_activation; })
    if (kind != Kind::simple) f("recurrent_activation", o.recurrent_activation);
  f("use_bias", o.use_bias);
  f("kernel_initializer", o.kernel_initializer);
  f("recurrent_initializer", o.recurrent_initializer);
  f("bias_initializer", o.bias_initializer);
  if constexpr (requires { o.unit_forget_bias; })
    if (kind == Kind::lstm) f("unit_forget_bias", o.unit_forget_bias);
  f("kernel_regularizer", o.kernel_regularizer);
  f("recurrent_regularizer", o.recurrent_regularizer);
  f("bias_regularizer", o.bias_regularizer);
  if constexpr (requires { o.of_layer; }) {
    if (o.of_layer) f("activity_regularizer", o.activity_regularizer);
  } else if constexpr (requires { o.activity_regularizer; }) {
    f("activity_regularizer", o.activity_regularizer);
  }
  f("kernel_constraint", o.kernel_constraint);
  f("recurrent_constraint", o.recurrent_constraint);
  f("bias_constraint", o.bias_constraint);
  f("dropout", o.dropout);
  f("recurrent_dropout", o.recurrent_dropout);
  if constexpr (requires { o.implementation; })
    if (kind != Kind::simple) f.detail_of_keras2("implementation", o.implementation);
  if constexpr (requires { o.reset_after; })
    if (kind == Kind::gru) f("reset_after", o.reset_after);
}
template <class O>
struct CellFields {
  using Options = O;
  template <class F, class Any>
  static void visit(F& f, Any& o) {
    visit_cell(f, o);
  }
};

}  // namespace rill::keras
