#pragma once
#include <string>
#include <string_view>

#include "rill/base/api.h"

namespace rill RILL_API {

// Names of the nodes that are made while it lives begin with `name`:
//   { tf::name_scope s("hidden"); y = tf::matmul(x, w); }   // "hidden/MatMul"
class name_scope {
 public:
  explicit name_scope(std::string_view name);
  ~name_scope();
  name_scope(const name_scope&) = delete;
  const std::string& name() const { return name_; }  // "outer/hidden/"

 private:
  std::string name_;
  const std::string* outer_;
};

}  // namespace RILL_API

namespace rill {

// `name` in the scopes of this thread: "hidden/MatMul".
std::string join_scope(std::string_view name);

}  // namespace rill
