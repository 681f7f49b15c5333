#pragma once
// All layers.
#include "rill/keras/engine/registered_layers.h"
#include "rill/keras/layers/activation.h"
#include "rill/keras/layers/attention.h"
#include "rill/keras/layers/convolutional.h"
#include "rill/keras/layers/core.h"
#include "rill/keras/layers/lambda.h"
#include "rill/keras/layers/merging.h"
#include "rill/keras/layers/normalization.h"
#include "rill/keras/layers/pooling.h"
#include "rill/keras/layers/recurrent.h"
#include "rill/keras/layers/regularization.h"
#include "rill/keras/layers/reshaping.h"
