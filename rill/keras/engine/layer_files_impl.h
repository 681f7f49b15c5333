#pragma once
#include <string>
#include <utility>
#include <vector>

#include "rill/core/tensor.h"

namespace rill::keras {

class LayerImpl;

// What a layer keeps in files of Keras besides its configuration and its weights: text that lies in
// the archive of a .keras file, and arrays with names. A layer with any derives from this, too.
class LayerFiles {
 public:
  virtual ~LayerFiles() = default;
  // What the file "vocabulary.txt" holds; false where there is nothing to keep.
  virtual bool vocabulary_file(std::string*) const { return false; }
  virtual void read_vocabulary_file(const std::string&) {}
  // By their names below "vars".
  virtual std::vector<std::pair<std::string, Tensor>> arrays() const { return {}; }
  virtual void set_array(const std::string&, const Tensor&) {}
  // The weights are for reading older files: all that they say is in the configuration.
  virtual bool weights_are_in_config() const { return false; }
  // What HDF5 cannot hold, for messages; null: nothing.
  virtual const char* not_in_hdf5() const { return nullptr; }
};

// Whether Keras counts the layer among those with weights: it, or one in it, has some, or a
// vocabulary of its own to find, which is state to Keras.
bool counts_as_weighted(const LayerImpl& layer);

}  // namespace rill::keras
