#pragma once
// All of Rill's public API. Programs write `namespace tf = rill;`.
#include "rill/base/error.h"
#include "rill/base/format.h"
#include "rill/base/version.h"
#include "rill/core/gradient.h"
#include "rill/core/operand.h"
#include "rill/core/shape.h"
#include "rill/core/tensor.h"
#include "rill/eager/gradient_tape.h"
#include "rill/eager/variable.h"
#include "rill/ops/array_ops.h"
#include "rill/ops/math_ops.h"
