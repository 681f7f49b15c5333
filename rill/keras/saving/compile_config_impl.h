#pragma once
#include "rill/keras/models/model.h"

namespace rill::keras {

// What compile was told, as files hold it: loss, metrics, loss_weights, weighted_metrics; the
// optimizer under `optimizer_key`.
Config compile_config(const CompileOptions& options, const char* optimizer_key);
// The reverse; `model` has the names of its outputs. Unimplemented or NotFound, by name, for what
// would be another loss or metric than the one saved.
CompileOptions compile_options(const Config& config, const char* optimizer_key, const Model& model);

}  // namespace rill::keras
