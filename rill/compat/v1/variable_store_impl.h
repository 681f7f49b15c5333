#pragma once
#include <functional>
#include <map>
#include <mutex>
#include <optional>

#include "rill/compat/v1/variable_scope.h"
#include "rill/core/trackable.h"

namespace rill::compat::v1 {

// How often each scope was opened, from which default names are made unique.
class ScopeCounts {
 public:
  std::string unique(const std::string& name) const;  // name, name_1, ...
  void open(const std::string& name) { ++opened_[name]; }
  void close_within(const std::string& name);  // what is in a scope is counted again

 private:
  std::map<std::string, int> opened_;
};

struct VariableScope::State {
  std::string name;
  Reuse reuse;
  VariableInitializer initializer;
  keras::Regularizer regularizer;
  keras::Constraint constraint;
  DType dtype;
};

class VariableStoreImpl : public TrackableNode {
 public:
  explicit VariableStoreImpl(VariableStoreOptions options);
  // The innermost one of this thread; null: none.
  static Ref<VariableStoreImpl> current();

  struct Entry {
    std::string name;  // without ":0"
    Variable variable;
    keras::Regularizer regularizer;
  };
  // `make` gives the variable where there is none.
  Variable get(const std::string& name, const TensorShape& shape, DType dtype, Reuse reuse,
               const keras::Regularizer& regularizer, const std::function<Variable()>& make);
  std::optional<Variable> find(const std::string& name) const;
  std::vector<Variable> variables(const std::function<bool(const Variable&)>& wanted) const;
  // Forgets the variables whose names begin so.
  void forget(const std::string& prefix);
  // Gives them to a node of a checkpoint, under what follows in their names.
  void track_in(TrackableNode& node, const std::string& prefix) const;
  void set_activity_losses(const std::string& layer, std::vector<Tensor> losses);
  std::vector<Tensor> regularization_losses(const std::string& prefix = {}) const;

  const std::shared_ptr<VariableScope::State> root;

  mutable std::mutex mutex;
  ScopeCounts counts;  // guarded by mutex

 private:
  std::vector<Entry> entries_;                                  // in the order of their making
  std::map<std::string, std::vector<Tensor>> activity_losses_;  // by layer; guarded by mutex
};

}  // namespace rill::compat::v1
