#pragma once
#include <string>
#include <string_view>

#include "rill/keras/applications/applications.h"

// What all applications do before and after the layers of their own.
namespace rill::keras::applications {

// The shape of an image that the model takes: the one asked for, or the default. InvalidArgument
// for arguments that contradict each other, in the name of the application.
TensorShape checked_input_shape(std::string_view application, const ApplicationOptions& options);

// How an application names the layers at its end; empty: by their class.
struct EndNames {
  std::string average = {}, max = {};
};
// The pooling that was asked for where there is no top.
Tensor pooled(const Tensor& x, const ApplicationOptions& options, const EndNames& names = {});
// The layer that says how likely each class is.
Tensor predictions(const Tensor& x, const ApplicationOptions& options);

// The model, with the weights of the file where there is one.
Model finished(const Tensor& input, const Tensor& output, std::string_view name,
               const ApplicationOptions& options);

}  // namespace rill::keras::applications
