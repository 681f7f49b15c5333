#pragma once
#include <cmath>
#include <initializer_list>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "rill/keras/activations/activation.h"
#include "rill/keras/engine/registered_layers.h"
#include "rill/keras/engine/registered_layers_impl.h"
#include "rill/keras/layers/weight_config_impl.h"
#include "rill/keras/layers/window_impl.h"

// The arguments of a layer, listed once:
//
//   struct DenseFields {
//     using Options = layers::DenseOptions;
//     template <class F, class O>
//     static void visit(F& f, O& o) {
//       f.required("units", o.units);
//       f("use_bias", o.use_bias);
//     }
//   };
//   void add_config(Config& c) const override { write_fields<DenseFields>(o_, c); }
//   const RegisterFields<DenseFields, layers::Dense> registered_dense("Dense");
//
// get_config writes them in this order, from_config reads them (a clone is made by both), and files
// for Keras 3 leave out what the list says Keras 3 does not have.
namespace rill::keras {

// ---- how configurations hold values
struct PlainField {
  template <class T>
  static Config write(const T& v) {
    if constexpr (std::is_same_v<T, Initializer>)
      return serialize(v);
    else if constexpr (requires { v.serialize(); })
      return v.serialize();
    else if constexpr (std::is_same_v<T, nn::Sizes>)
      return write(v.list());
    else if constexpr (std::is_same_v<T, std::vector<int>>)
      return v.empty() ? Config() : Config::list_of(v);
    else
      return Config(v);
  }
  template <class T>
  static void read(const Config& c, T& v) {
    if constexpr (std::is_same_v<T, Initializer>)
      v = deserialize_initializer(c, v);
    else if constexpr (requires { T::deserialize(c); })
      v = T::deserialize(c);
    else if constexpr (std::is_same_v<T, nn::Sizes>)
      v = sizes_from(c);
    else if constexpr (std::is_same_v<T, std::vector<int>>)
      v = sizes_from(c).list();
    else if constexpr (std::is_same_v<T, bool>)
      v = c.as_bool();
    else if constexpr (std::is_integral_v<T>)
      v = static_cast<T>(c.as_int());
    else if constexpr (std::is_floating_point_v<T>)
      v = c.as_double();
    else if constexpr (std::is_same_v<T, TensorShape>)
      v = c.as_shape();
    else if constexpr (std::is_same_v<T, Config>)
      v = c;
    else
      v = c.as_string();
  }
};
// null for "".
struct TextOrNull {
  static constexpr bool reads_null = true;
  static Config write(const std::string& v) { return v.empty() ? Config() : Config(v); }
  static void read(const Config& c, std::string& v) { v = c.is_null() ? "" : c.as_string(); }
};
// null for a number below this one.
template <int least>
struct NullBelow : PlainField {
  static Config write(std::int64_t v) { return v < least ? Config() : Config(v); }
};
// A number, or a list of several.
struct NumberOrList : PlainField {
  static Config write(const nn::Sizes& v) {
    return v.list().size() == 1 ? Config(v.list()[0]) : Config::list_of(v.list());
  }
};
// As Keras keeps some numbers; null for infinity. Newer files write NumPy's numbers as records.
struct InFloat32 {
  static Config write(double v) {
    return std::isinf(v) ? Config() : Config(static_cast<double>(static_cast<float>(v)));
  }
  static void read(const Config& c, double& v) {
    const Config& number = c.is_dict() ? c["config"]["value"] : c;
    if (!number.is_null()) v = number.as_double();
  }
};

// Null where it is not given; a whole number as one.
struct NumberIfGiven {
  static Config write(const std::optional<double>& v) {
    if (!v) return {};
    return std::trunc(*v) == *v && std::abs(*v) < 1e15 ? Config(static_cast<std::int64_t>(*v))
                                                       : Config(*v);
  }
  static void read(const Config& c, std::optional<double>& v) { v = c.as_double(); }
};

// ---- what a list can say of a field
struct FieldRole {
  bool required = false;         // NotFound where a file lacks it
  bool written = true;           // by get_config
  const char* keras3 = nullptr;  // its name there, where that is another
  enum { kept, only_default, dropped } in_keras3 = kept;
};

template <class Visitor>
class FieldVisitor {
 public:
  // A file that lacks it, or has null, has the default of the options.
  template <class T, class Form = PlainField>
  void operator()(const char* name, T& v, Form form = {}) {
    self().field(name, v, form, FieldRole{});
  }
  template <class T, class Form = PlainField>
  void required(const char* name, T& v, Form form = {}) {
    self().field(name, v, form, FieldRole{.required = true});
  }
  // get_config writes it where this holds.
  template <class T, class Form = PlainField>
  void written_if(bool yes, const char* name, T& v, Form form = {}) {
    self().field(name, v, form, FieldRole{.written = yes});
  }
  // Keras 3 does not have it: only its default can be said there.
  template <class T, class Form = PlainField>
  void in_keras2(const char* name, T& v, Form form = {}) {
    self().field(name, v, form, FieldRole{.in_keras3 = FieldRole::only_default});
  }
  // Keras 3 does not have it, and computes the same without it.
  template <class T, class Form = PlainField>
  void detail_of_keras2(const char* name, T& v, Form form = {}) {
    self().field(name, v, form, FieldRole{.in_keras3 = FieldRole::dropped});
  }
  template <class T, class Form = PlainField>
  void renamed(const char* name, const char* keras3, T& v, Form form = {}) {
    self().field(name, v, form, FieldRole{.keras3 = keras3});
  }
  // Keras 2 writes it, though the layer has no choice.
  void always_in_keras2(const char* /*name*/, const Config& /*value*/) {}
  // Keras 3 has it, and it would make another layer: read only where it is off.
  void only_in_keras3(const char* /*name*/) {}
  // What else a configuration for Keras 3 needs: change(Config&).
  template <class Change>
  void for_keras3(const Change&) {}

 private:
  Visitor& self() { return static_cast<Visitor&>(*this); }
};

// ---- visitors
class FieldWriter : public FieldVisitor<FieldWriter> {
 public:
  explicit FieldWriter(Config& c) : c_(c) {}
  template <class T, class Form>
  void field(const char* name, const T& v, Form, const FieldRole& role) {
    if (role.written) c_.set(name, Form::write(v));
  }
  void always_in_keras2(const char* name, const Config& value) { c_.set(name, value); }

 private:
  Config& c_;
};

class FieldReader : public FieldVisitor<FieldReader> {
 public:
  explicit FieldReader(const Config& c) : c_(c) {}
  template <class T, class Form>
  void field(const char* name, T& v, Form, const FieldRole& role) {
    constexpr bool null_too = std::is_same_v<T, Activation> || requires { Form::reads_null; };
    if (role.required) return Form::read(c_[name], v);
    const char* key = role.keras3 && c_.contains(role.keras3) ? role.keras3 : name;
    if (!c_.contains(key)) return;
    if (const Config& given = c_[key]; null_too || !given.is_null()) Form::read(given, v);
  }
  void only_in_keras3(const char* name) { refuse_argument(c_, name); }

 private:
  const Config& c_;
};

// Makes a configuration one for Keras 3; visits options as they are by default.
class FieldsForKeras3 : public FieldVisitor<FieldsForKeras3> {
 public:
  explicit FieldsForKeras3(Config& c) : c_(c) {}
  template <class T, class Form>
  void field(const char* name, const T& by_default, Form, const FieldRole& role) {
    if (role.keras3 && c_.contains(name)) c_.set(role.keras3, Config(c_[name]));
    if (role.in_keras3 == FieldRole::only_default)
      drop_for_keras3(c_, name, Form::write(by_default));
    if (role.keras3 || role.in_keras3 == FieldRole::dropped) c_.erase(name);
  }
  void always_in_keras2(const char* name, const Config& value) { drop_for_keras3(c_, name, value); }
  template <class Change>
  void for_keras3(const Change& change) {
    change(c_);
  }

 private:
  Config& c_;
};

template <class Fields, class O>
void write_fields(const O& o, Config& c) {
  FieldWriter f(c);
  Fields::visit(f, o);
}
template <class Fields>
typename Fields::Options read_fields(const Config& c) {
  auto o = from_common<typename Fields::Options>(c);
  FieldReader f(c);
  Fields::visit(f, o);
  return o;
}
template <class Fields>
void fields_for_keras3(Config& c) {
  const typename Fields::Options by_default{};
  FieldsForKeras3 f(c);
  Fields::visit(f, by_default);
}

// Makes a class known to files by its fields, also under names that older files have.
template <class Fields, class L>
struct RegisterFields {
  template <class... Names>
  explicit RegisterFields(Names... names) {
    const auto add = [](const char* name) {
      RegisterLayer(name, [](const Config& c) -> LayerRef { return L(read_fields<Fields>(c)); });
      RegisterChangeForKeras3(name, fields_for_keras3<Fields>);
    };
    (add(names), ...);
  }
};
// The same of a class that holds more than its fields.
template <class Fields>
struct RegisterWithFields {
  RegisterWithFields(const char* name, LayerFactory factory) {
    RegisterLayer(name, std::move(factory));
    RegisterChangeForKeras3(name, fields_for_keras3<Fields>);
  }
};

// Of a layer without arguments of its own.
template <class O>
struct NoFields {
  using Options = O;
  template <class F, class Any>
  static void visit(F&, Any&) {}
};

// The weights that many layers have, in Keras's order.
template <class F, class O>
void visit_kernel_and_bias(F& f, O& o) {
  f("kernel_initializer", o.kernel_initializer);
  f("bias_initializer", o.bias_initializer);
  f("kernel_regularizer", o.kernel_regularizer);
  f("bias_regularizer", o.bias_regularizer);
  f("activity_regularizer", o.activity_regularizer);
  f("kernel_constraint", o.kernel_constraint);
  f("bias_constraint", o.bias_constraint);
}

// Low-rank adaptation, of Keras 3.
template <class F, class O>
void visit_lora(F& f, O& o) {
  f.written_if(o.lora_rank > 0, "lora_rank", o.lora_rank);
  f.written_if(o.lora_rank > 0, "lora_alpha", o.lora_alpha, NumberIfGiven());
}

}  // namespace rill::keras
