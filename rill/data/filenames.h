#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "rill/core/operand.h"
#include "rill/data/dataset.h"

namespace rill RILL_API {
namespace data {

// An element of a list of names. (A std::string_view would read {{"a", "b"}} as one view from "a"
// to "b".)
class Name {
 public:
  template <StringLike S>
  Name(const S& name) : text_(std::string_view(name)) {}
  const std::string& text() const { return text_; }

 private:
  std::string text_;
};

// The names that a source reads: one, a list, a tensor of strings, or a dataset of such tensors.
class Filenames {
 public:
  template <StringLike S>
  Filenames(const S& name) : list_{std::string(std::string_view(name))} {}
  Filenames(std::initializer_list<Name> names) {
    for (const Name& n : names) list_.push_back(n.text());
  }
  Filenames(std::vector<std::string> names) : list_(std::move(names)) {}
  // InvalidArgument unless it holds strings.
  Filenames(const Tensor& names);
  Filenames(const Nest& names) : Filenames(names.as_tensor()) {}
  Filenames(const Dataset& names) : dataset_{names} {}

  // Library use. Names of a dataset are known only element by element.
  const Dataset* dataset() const { return dataset_.empty() ? nullptr : &dataset_[0]; }
  bool is_symbolic() const { return symbol_.defined(); }
  const Tensor& symbol() const { return symbol_; }
  const std::vector<std::string>& list() const { return list_; }

 private:
  std::vector<std::string> list_;
  std::vector<Dataset> dataset_;  // none or one
  Tensor symbol_;
};

}  // namespace data
}  // namespace RILL_API
