#pragma once
#include "rill/keras/models/model.h"

namespace rill::keras {

// HDF5 files and archives hold the settings of compile a little differently: the optimizer as
// "optimizer_config" or "optimizer", metrics that are functions as records or by name.
enum class CompileForm : unsigned char { hdf5, archive };

// Of functions without a registered name it holds no more than that there are some.
Config compile_config(const CompileOptions& options, CompileForm form);
// The reverse; `model` has the names of its outputs. Unimplemented or NotFound, by name, for what
// would be another loss or metric than the one saved. `scaled`: see deserialize_optimizer.
CompileOptions compile_options(const Config& config, CompileForm form, const Model& model,
                               bool scaled);

}  // namespace rill::keras
