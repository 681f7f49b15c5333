#pragma once
// All layers.
#include "rill/keras/layers/attention.h"
#include "rill/keras/layers/core.h"
#include "rill/keras/layers/recurrent.h"
#include "rill/keras/layers/registry.h"
#include "rill/keras/layers/regularization.h"
