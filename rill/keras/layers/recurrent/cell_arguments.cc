#include "rill/base/check.h"
#include "rill/keras/layers/recurrent/cell_arguments_impl.h"

namespace rill::keras {

void CellArguments::check(std::string_view class_name) {
  RILL_CHECK(units > 0, invalid_argument, "[{}] units is {}; expected a positive number of outputs",
             class_name, units);
  for (const double rate : {dropout, recurrent_dropout})
    RILL_CHECK(rate >= 0 && rate <= 1, invalid_argument,
               "[{}] dropout is {} and recurrent_dropout is {}; expected the shares to drop, from "
               "0 to 1",
               class_name, dropout, recurrent_dropout);
  RILL_CHECK(implementation == 1 || implementation == 2, invalid_argument,
             "[{}] implementation is {}; expected 1 or 2", class_name, implementation);
  // Dropout of states is apart for each gate, as in Keras.
  if (recurrent_dropout != 0) implementation = 1;
}

void CellArguments::add_to(Config& c, bool of_layer) const {
  c.set("units", units);
  c.set("activation", activation.serialize());
  if (kind != Kind::simple) c.set("recurrent_activation", recurrent_activation.serialize());
  c.set("use_bias", use_bias);
  c.set("kernel_initializer", serialize(kernel_initializer));
  c.set("recurrent_initializer", serialize(recurrent_initializer));
  c.set("bias_initializer", serialize(bias_initializer));
  if (kind == Kind::lstm) c.set("unit_forget_bias", unit_forget_bias);
  c.set("kernel_regularizer", kernel_regularizer.serialize());
  c.set("recurrent_regularizer", recurrent_regularizer.serialize());
  c.set("bias_regularizer", bias_regularizer.serialize());
  if (of_layer) c.set("activity_regularizer", activity_regularizer.serialize());
  c.set("kernel_constraint", kernel_constraint.serialize());
  c.set("recurrent_constraint", recurrent_constraint.serialize());
  c.set("bias_constraint", bias_constraint.serialize());
  c.set("dropout", dropout);
  c.set("recurrent_dropout", recurrent_dropout);
  if (kind != Kind::simple) c.set("implementation", implementation);
  if (kind == Kind::gru) c.set("reset_after", reset_after);
}

}  // namespace rill::keras
