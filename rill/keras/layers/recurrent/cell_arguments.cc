#include "rill/base/check.h"
#include "rill/keras/layers/recurrent/cell_arguments_impl.h"
#include "rill/ops/array_ops.h"

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

Initializer with_forget_bias(const Initializer& given, std::int64_t n, bool unit_forget_bias) {
  if (!unit_forget_bias) return given;
  return Initializer([given, n](const TensorShape&, DType t) {
    return concat({given({n}, t), ones({n}, t), given({2 * n}, t)}, 0);
  });
}

}  // namespace rill::keras
