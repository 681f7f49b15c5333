#pragma once
#include <string_view>
#include <vector>

#include "rill/core/tensor.h"

namespace rill RILL_API {

// TensorFlow's `name=` of any op:
//
//   Tensor loss = tf::named("loss", tf::reduce_mean(tf::square(y - p)));
//
// In a graph or a traced function the op that the expression ended in gets the
// name, within the name scopes of this thread ("train/loss"), and "loss_1" where
// there is one already. A function that is made of several ops has its nodes below
// the name, as in TensorFlow ("loss/Reshape_2"). The expression is a temporary: a
// tensor that has its own variable, or that the expression made no op for,
// gets an Identity of that name. Eagerly nothing has a name, and nothing happens.
Tensor named(std::string_view name, Tensor&& made);
Tensor named(std::string_view name, const Tensor& t);
std::vector<Tensor> named(std::string_view name, std::vector<Tensor>&& made);

}  // namespace RILL_API
