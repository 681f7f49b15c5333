#pragma once
#include <concepts>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "rill/core/trackable.h"
#include "rill/eager/variable.h"
#include "rill/keras/constraints/constraint.h"
#include "rill/keras/initializers/initializers.h"
#include "rill/keras/regularizers/regularizer.h"

// Variables that are found by their names, as programs of TensorFlow 1 share them:
//
//   v1::VariableStore store;
//   auto variables = store.as_default();
//   {
//     v1::variable_scope foo("foo");
//     auto v = v1::get_variable("v", {1});              // makes "foo/v:0"
//   }
//   v1::variable_scope foo("foo", {.reuse = true});
//   auto same = v1::get_variable("v");                  // finds it
namespace rill RILL_API {
namespace compat {
namespace v1 {

inline constexpr struct AutoReuse {
} AUTO_REUSE{};

// What get_variable does with a name: false makes a variable, and refuses a name that is taken;
// true finds one, and refuses an unknown name; AUTO_REUSE does either.
class Reuse {
 public:
  constexpr Reuse() = default;  // as the scope around it
  constexpr Reuse(bool reuse) : kind_(reuse ? Kind::yes : Kind::no) {}
  constexpr Reuse(AutoReuse) : kind_(Kind::automatic) {}
  constexpr bool yes() const { return kind_ == Kind::yes; }
  constexpr bool automatic() const { return kind_ == Kind::automatic; }
  // As TensorFlow has it, a scope that finds is not left by a false within it.
  constexpr Reuse within(Reuse outer) const {
    return kind_ == Kind::none || kind_ == Kind::no ? outer : *this;
  }

 private:
  enum class Kind : unsigned char { none, no, yes, automatic } kind_ = Kind::none;
};

class VariableStoreImpl;
void retain(VariableStoreImpl*) noexcept;
void release(VariableStoreImpl*) noexcept;

struct VariableStoreOptions {
  // Outside every scope that says otherwise. A graph of TensorFlow 1 has false.
  Reuse reuse = AUTO_REUSE;
};

// The variables that get_variable and the functions of v1::layers have made, by name; the
// EagerVariableStore of TensorFlow 1. A reference: copies share the variables.
class VariableStore {
 public:
  explicit VariableStore(VariableStoreOptions options = {});

  // get_variable of this thread uses this store while the scope lives.
  class [[nodiscard]] Scope {
   public:
    ~Scope();
    Scope(const Scope&) = delete;
    Scope& operator=(const Scope&) = delete;

   private:
    friend class VariableStore;
    explicit Scope(const Ref<VariableStoreImpl>& store);
    struct Entered;
    std::unique_ptr<Entered> entered_;
  };
  Scope as_default() const;

  // Sorted by name, as TensorFlow gives them.
  std::vector<Variable> variables() const;
  std::vector<Variable> trainable_variables() const;
  std::vector<Variable> non_trainable_variables() const;
  // What the regularizers say of the variables as they are now, in the order of their making; then
  // the losses of the results of layers with an activity_regularizer, at their last calls.
  std::vector<Tensor> regularization_losses() const;
  // For checkpoints: each variable by its name.
  Ref<TrackableNode> trackable() const;

  explicit VariableStore(const Ref<VariableStoreImpl>& impl) : impl_(impl) {}  // library use

 private:
  Ref<VariableStoreImpl> impl_;
};

// The first value of a variable: an initializer, with a shape; or a tensor, without.
class VariableInitializer {
 public:
  VariableInitializer() = default;  // glorot_uniform for floats, else zeros, false or ""
  template <class T>
  requires std::convertible_to<const T&, keras::Initializer> VariableInitializer(const T& i)
      : initializer_(i) {}
  VariableInitializer(const Tensor& value) : value_(value) {}
  bool defined() const { return initializer_.defined() || value_.defined(); }
  const keras::Initializer& initializer() const { return initializer_; }
  const Tensor& value() const { return value_; }

 private:
  keras::Initializer initializer_;
  Tensor value_;
};

struct VariableScopeOptions {
  std::string default_name = {};  // where the name is "": made unique with _1, _2, ...
  Reuse reuse = {};
  // The defaults of get_variable; inner scopes inherit them.
  VariableInitializer initializer = {};
  keras::Regularizer regularizer = {};
  keras::Constraint constraint = {};
  DType dtype = {};
};

// The state of a scope; a reference to it, so that it can be entered again.
class VariableScope {
 public:
  std::string name() const;  // "foo/bar"; "" outside every scope
  Reuse reuse() const;
  // From now on get_variable finds existing variables, in this scope and in those opened within.
  void reuse_variables() const;

  struct State;
  explicit VariableScope(std::shared_ptr<State> state) : state_(std::move(state)) {}
  const std::shared_ptr<State>& state() const { return state_; }

 private:
  std::shared_ptr<State> state_;
};
// The innermost scope of this thread.
VariableScope get_variable_scope();

// While it lives, names of variables (and of ops) of this thread begin with its name.
class [[nodiscard]] variable_scope {
 public:
  explicit variable_scope(std::string_view name, VariableScopeOptions options = {});
  // Enters a scope again, from wherever: its name is the whole name.
  explicit variable_scope(const VariableScope& scope, VariableScopeOptions options = {});
  ~variable_scope();
  variable_scope(const variable_scope&) = delete;
  variable_scope& operator=(const variable_scope&) = delete;

  VariableScope scope() const;
  std::string name() const { return scope().name(); }
  void reuse_variables() const { scope().reuse_variables(); }

 private:
  struct Entered;
  std::unique_ptr<Entered> entered_;
};

struct GetVariableOptions {
  VariableInitializer initializer = {};
  DType dtype = {};  // float32, or that of the initial value
  keras::Regularizer regularizer = {};
  bool trainable = true;
  keras::Constraint constraint = {};
};
// The variable of this name in the scope of this thread. InvalidArgument where the scope's reuse
// does not allow it, or the shape or dtype differ from those of the variable that is there.
// Without a default store each call makes a variable, which the caller keeps.
Variable get_variable(std::string_view name, const TensorShape& shape = {},
                      const GetVariableOptions& options = {});

namespace losses {
// Of the default store; none without one.
std::vector<Tensor> get_regularization_losses();
// Their sum; 0 where there are none.
Tensor get_regularization_loss();
}  // namespace losses

}  // namespace v1
}  // namespace compat

using compat::v1::AUTO_REUSE, compat::v1::get_variable, compat::v1::get_variable_scope;
using compat::v1::variable_scope;

}  // namespace RILL_API
