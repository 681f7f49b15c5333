#pragma once
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "rill/core/trackable.h"
#include "rill/eager/variable.h"

namespace rill RILL_API {

class ModuleNode;
void retain(ModuleNode*) noexcept;
void release(ModuleNode*) noexcept;

// The base of classes with variables, without the rest of a Keras layer. C++ cannot look for
// members, so that the constructor names them:
//
//   struct Linear : tf::Module {
//     tf::Variable w{2.f}, b{1.f};
//     Linear() {
//       track("w", w);
//       track("b", b);
//     }
//     Tensor operator()(const Tensor& x) const { return w * x + b; }
//   };
//
// A reference: copies share the variables. Checkpoints find what is tracked by its name.
class Module {
 public:
  explicit Module(std::string_view name = "module");
  virtual ~Module();
  Module(const Module&);
  Module& operator=(const Module&);

  const std::string& name() const;
  // Those of this module and of all in it, each once, in the order of tracking.
  std::vector<Variable> variables() const;
  std::vector<Variable> trainable_variables() const;
  std::vector<Variable> non_trainable_variables() const;
  Ref<TrackableNode> trackable() const;

 protected:
  // InvalidArgument when another member has the name.
  void track(std::string_view name, const Variable& v);
  // A module, a Keras layer or model, or a list of such.
  template <class T>
  requires requires(const T& t) {
    t.variables();
    t.trackable();
  }
  void track(std::string_view name, const T& part) {
    track_part(name, part.trackable(), [part] { return part.variables(); });
  }
  // What checkpoints hold besides variables: a lookup table.
  template <class T>
  requires(
      requires(const T& t) { t.trackable(); } &&
      !requires(const T& t) { t.variables(); }) void track(std::string_view name, const T& part) {
    track_part(name, part.trackable(), [] { return std::vector<Variable>(); });
  }
  template <class T>
  void track(std::string_view name, const std::vector<T>& list) {
    Module parts(name);
    for (std::size_t i = 0; i < list.size(); ++i) parts.track(std::to_string(i), list[i]);
    track(name, parts);
  }

 private:
  void track_part(std::string_view name, const Ref<TrackableNode>& node,
                  std::function<std::vector<Variable>()> variables);
  Ref<ModuleNode> node_;
};

}  // namespace RILL_API
