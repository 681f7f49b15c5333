#pragma once
#include <string_view>

#include "rill/keras/config.h"
#include "rill/ops/nn_ops.h"

// What layers that move windows over images have in common.
namespace rill::keras {

// A number for each of the axes. InvalidArgument, in the name of the class, for another count
// or numbers below `least`.
std::vector<int> per_axis(std::string_view class_name, std::string_view argument,
                          const nn::Sizes& given, int axes, int least = 1);
// The sizes that a configuration holds: a number, or a list of them; none where it is null.
nn::Sizes sizes_from(const Config& c);

// Whether data_format says "channels_first"; InvalidArgument for what it does not know.
bool is_channels_first(std::string_view class_name, const std::string& data_format);
const char* data_format_name(bool channels_first);

// "valid", "same" or, where it is allowed, "causal", in small letters; else InvalidArgument.
std::string checked_padding(std::string_view class_name, const std::string& padding,
                            bool causal_too = false);

}  // namespace rill::keras
