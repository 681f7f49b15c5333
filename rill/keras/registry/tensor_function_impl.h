#pragma once
#include <functional>
#include <memory>
#include <string>
#include <typeinfo>

#include "rill/base/check.h"
#include "rill/base/ref.h"
#include "rill/core/tensor.h"
#include "rill/keras/registry/class_name_impl.h"
#include "rill/keras/registry/class_registry_impl.h"

namespace rill::keras {

// What stands behind a handle on a function of one tensor, a constraint or a regularizer: one of
// the library, with its name and arguments, a plain function, or an object of a user's class.
template <class Handle>
class TensorFunction {
 public:
  using Function = std::function<Tensor(const Tensor&)>;
  using Registry = ClassRegistry<std::function<Handle(const Config&)>>;

  TensorFunction(const char* name, Config arguments, Function function)
      : class_name(name), config(std::move(arguments)), f(std::move(function)) {}
  explicit TensorFunction(std::shared_ptr<const Handle> own) : object(std::move(own)) {}

  // Users' classes.
  static Registry& known() {
    static auto* k = new Registry;
    return *k;
  }
  // `impl` may be null: `self` was made by nobody, or its class does not override call.
  static Tensor call(const TensorFunction* impl, const Handle& self, const Tensor& x,
                     const char* what, const char* signature) {
    const bool own = typeid(self) != typeid(Handle);
    RILL_CHECK(impl, failed_precondition, "[{}] {}", what,
               own ? format("the class {} has no call: override {}", class_name_of(typeid(self)),
                            signature)
                   : std::string("there is none: it was default-constructed"));
    return impl->object ? impl->object->call(x) : impl->f(x);
  }
  Config record(const char* what) const {
    if (const Handle* own = object.get())
      return users_record(known().name_of(typeid(*own), class_name_of(typeid(*own))),
                          own->get_config());
    RILL_CHECK(!class_name.empty(), failed_precondition,
               "[{}] a user-defined function has no name that a file could hold; use one of "
               "keras::{}s",
               what, what);
    return Config::dict({{"class_name", class_name}, {"config", config}});
  }
  // A user's class, or one of the library that has no arguments, by the name of a record.
  template <class ByName>
  static Handle of_record(const std::string& name, const Config& arguments, const ByName& by_name) {
    if (const auto make = known().find(name))
      return make(arguments.is_dict() ? arguments : Config::dict());
    try {
      return by_name(name);
    } catch (errors::Error& e) {
      e.add_context("Register a user-defined class first: " + registering_call(name));
      throw;
    }
  }

  const std::string class_name;
  const Config config;
  const Function f;
  const std::shared_ptr<const Handle> object;  // of a user's class
  RefCount refs;
};

}  // namespace rill::keras
