#pragma once
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "rill/compat/v1/variable_scope.h"

// A function with the variables that it makes at its first call and finds at all others, so that
// get_variable and the functions of v1::layers are used in eager execution:
//
//   auto net = v1::make_template("net", [](Tensor x) {
//     x = v1::layers::dense(x, 16, {.activation = "relu"});
//     return v1::layers::dense(x, 1);
//   });
//   auto y = net(x);              // makes net/dense/kernel:0, net/dense/bias:0, net/dense_1/...
//   auto v = net.trainable_variables();
namespace rill RILL_API {
namespace compat {
namespace v1 {

class TemplateImpl;
void retain(TemplateImpl*) noexcept;
void release(TemplateImpl*) noexcept;

class TemplateBase {
 public:
  std::string name() const;                 // as it was given
  std::string variable_scope_name() const;  // unique: "net_1"
  // Sorted by name; none before the first call.
  std::vector<Variable> variables() const;
  std::vector<Variable> trainable_variables() const;
  std::vector<Variable> non_trainable_variables() const;
  std::vector<Tensor> regularization_losses() const;  // as VariableStore's
  // For checkpoints: each variable by its name.
  Ref<TrackableNode> trackable() const;

 protected:
  explicit TemplateBase(std::string_view name);
  // The scope of one call. A first call that fails leaves no variables behind.
  class Call {
   public:
    explicit Call(const TemplateBase& t);
    ~Call();
    Call(const Call&) = delete;
    Call& operator=(const Call&) = delete;

   private:
    struct State;
    std::unique_ptr<State> state_;
  };
  Ref<TemplateImpl> impl_;
};

// A reference: copies share the variables.
template <class F>
class Template : public TemplateBase {
 public:
  Template(std::string_view name, F f) : TemplateBase(name), f_(std::move(f)) {}
  template <class... A>
  requires std::is_invocable_v<F&, A...>
  decltype(auto) operator()(A&&... arguments) const {
    const Call call(*this);
    return f_(std::forward<A>(arguments)...);
  }

 private:
  mutable F f_;
};

template <class F>
Template<F> make_template(std::string_view name, F f) {
  return Template<F>(name, std::move(f));
}

}  // namespace v1
}  // namespace compat

using compat::v1::make_template;

namespace contrib {
namespace eager {
using compat::v1::make_template;
using EagerVariableStore = compat::v1::VariableStore;
}  // namespace eager
}  // namespace contrib

}  // namespace RILL_API
