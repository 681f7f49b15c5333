#pragma once
#include <string>
#include <utility>
#include <vector>

#include "rill/core/nest.h"
#include "rill/data/prepared_datasets.h"
#include "rill/ops/io_ops.h"

// What features.json of tensorflow_datasets says of elements, and how they are read from Examples.
namespace rill::datasets {

// A component, or a dict of them; of a Sequence each of its components has one level of rows more.
struct Feature {
  enum class Kind { tensor, image, text, label, dict } kind = Kind::tensor;
  FeatureInfo info;
  std::string path;                   // "objects/bbox", its key in Examples
  std::vector<std::int64_t> lengths;  // of the sequences around it, outermost first; -1: any
  bool raw = false;                   // its bytes as they lie in memory
  std::vector<std::pair<std::string, Feature>> items;  // of a dict, by key
};

// DataLoss, in the name of the file, for text that is not features.json; Unimplemented for kinds of
// features that are not read. `folder` holds the names of classes.
Feature read_features(const std::string& folder);

// What the features are in an Example, and what they become.
void add_specs(const Feature& feature, io::FeatureSpecs* specs);
Nest element_of(const Feature& feature, const Nest& parsed, bool decode);
void list_features(const Feature& feature, std::map<std::string, FeatureInfo>* out);

}  // namespace rill::datasets
