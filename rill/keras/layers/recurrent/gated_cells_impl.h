#pragma once
#include "rill/keras/layers/recurrent/cell_arguments_impl.h"
#include "rill/keras/layers/recurrent/cell_impl.h"

namespace rill::keras {

// A SimpleRNNCell, GRUCell or LSTMCell, by the kind of its arguments.
CellImpl* make_gated_cell(LayerOptions options, CellArguments arguments);

}  // namespace rill::keras
