#include "rill/core/op.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <mutex>
#include <unordered_map>

#include "rill/base/check.h"
#include "rill/base/nearest.h"

namespace rill {
namespace {

// Ops and kernels register from static initialisers in any order, so an op may
// be known by its kernel before it is defined. Keys are the ops' own names.
// Hashed: optimizers look ops up at every step, and start-up does so a thousand times.
std::unordered_map<std::string_view, std::unique_ptr<Op>>& table() {
  static auto* t = new std::unordered_map<std::string_view, std::unique_ptr<Op>>;
  return *t;
}

Op& entry(std::string_view name) {
  if (auto it = table().find(name); it != table().end()) return *it->second;
  auto op = std::make_unique<Op>(std::string(name));
  const std::string_view key = op->name;
  return *table().emplace(key, std::move(op)).first->second;
}

std::string_view trim(std::string_view s) {
  while (!s.empty() && s.front() == ' ') s.remove_prefix(1);
  while (!s.empty() && s.back() == ' ') s.remove_suffix(1);
  return s;
}

template <class List>
int index_of(const List& list, std::string_view name) {
  for (std::size_t i = 0; i < list.size(); ++i)
    if (list[i].name == name) return static_cast<int>(i);
  return -1;
}

}  // namespace

std::string TypeSet::to_string() const {
  std::string out;
  for (int i = 1; i < DType::kCount; ++i) {
    const DType d{static_cast<DType::Code>(i)};
    if (contains(d)) out += (out.empty() ? "" : ", ") + std::string(d.name());
  }
  return out;
}

const AttrValue* Op::find_default(std::string_view attr) const {
  for (const Attr& a : defaults.list())
    if (a.name == attr) return &a.value;
  return nullptr;
}
int Op::find_attr(std::string_view attr) const { return index_of(attrs, attr); }
int Op::find_input(std::string_view arg) const { return index_of(inputs, arg); }
int Op::find_output(std::string_view arg) const { return index_of(outputs, arg); }

OpBuilder::OpBuilder(std::string_view name, std::string_view tag) : op_(&entry(name)) {
  if (op_->defined) bad("is defined twice", "");
  op_->tag = tag;
}

void OpBuilder::bad(std::string_view what, std::string_view spec) const {
  std::fprintf(stderr, "rill: op %s %.*s %.*s\n", op_->name.c_str(), static_cast<int>(what.size()),
               what.data(), static_cast<int>(spec.size()), spec.data());
  std::abort();
}

// "x: T", "axis: int32", "values: N * T". Attributes named here and not yet
// declared are inferred from the inputs.
ArgDef OpBuilder::parse_arg(std::string_view spec, bool is_input) {
  const auto colon = spec.find(':');
  if (colon == std::string_view::npos) bad("has an argument without a type:", spec);
  ArgDef arg;
  arg.name = trim(spec.substr(0, colon));
  std::string_view type = trim(spec.substr(colon + 1));
  auto attr_index = [&](std::string_view name, const char* kind) {
    int i = op_->find_attr(name);
    if (i < 0) {
      op_->attrs.push_back({std::string(name), kind, {}, false, false});
      i = static_cast<int>(op_->attrs.size()) - 1;
    }
    if (is_input) op_->attrs[static_cast<std::size_t>(i)].inferred = true;
    return i;
  };
  if (const auto star = type.find('*'); star != std::string_view::npos) {
    arg.number_attr = attr_index(trim(type.substr(0, star)), "int");
    type = trim(type.substr(star + 1));
  }
  if (type == "resource" || type == "variant" || type == "bool" || type == "string" ||
      (!type.empty() && type[0] >= 'a' && type[0] <= 'z' &&
       type.find_first_of("0123456789") != std::string_view::npos)) {
    arg.dtype = DType::from_name(type);
  } else if (const int i = op_->find_attr(type);
             i >= 0 && op_->attrs[static_cast<std::size_t>(i)].type == "list(type)") {
    arg.type_list_attr = i;
    op_->list_types = true;
    if (is_input) op_->attrs[static_cast<std::size_t>(i)].inferred = true;
  } else {
    arg.type_attr = attr_index(type, "type");
  }
  return arg;
}

OpBuilder& OpBuilder::input(std::string_view spec) {
  op_->inputs.push_back(parse_arg(spec, true));
  return *this;
}
OpBuilder& OpBuilder::output(std::string_view spec) {
  op_->outputs.push_back(parse_arg(spec, false));
  return *this;
}

OpBuilder& OpBuilder::attr(std::string_view spec) {
  const auto colon = spec.find(':');
  if (colon == std::string_view::npos) bad("has an attribute without a type:", spec);
  AttrDef def;
  def.name = trim(spec.substr(0, colon));
  std::string_view rest = trim(spec.substr(colon + 1)), value;
  if (const auto eq = rest.find('='); eq != std::string_view::npos) {
    value = trim(rest.substr(eq + 1));
    rest = trim(rest.substr(0, eq));
    def.has_default = true;
  }
  def.type = rest;
  if (int i = op_->find_attr(def.name); i >= 0) bad("declares an attribute twice:", spec);
  op_->attrs.push_back(def);
  if (!def.has_default) return *this;
  const std::string_view name = trim(spec.substr(0, colon));  // the literal outlives us
  const std::string text(value);
  if (rest == "bool")
    op_->defaults.add(name, value == "true");
  else if (rest == "int")
    op_->defaults.add(name, static_cast<std::int64_t>(std::atoll(text.c_str())));
  else if (rest == "float")
    op_->defaults.add(name, std::atof(text.c_str()));
  else if (rest == "string")
    op_->defaults.add(name, value.size() > 1 ? value.substr(1, value.size() - 2) : value);
  else if (rest == "type")
    op_->defaults.add(name, DType::from_name(value));
  else if (rest == "shape")
    op_->defaults.add(name, TensorShape());
  else if (rest == "list(int)") {
    std::vector<std::int64_t> list;
    for (std::size_t i = 1; i + 1 < text.size();) {
      char* end = nullptr;
      list.push_back(std::strtoll(text.c_str() + i, &end, 10));
      i = static_cast<std::size_t>(end - text.c_str()) + 1;
    }
    op_->defaults.add(name, std::span<const std::int64_t>(list));
  } else if (rest == "list(float)") {
    std::vector<double> list;
    for (std::size_t i = 1; i + 1 < text.size();) {
      char* end = nullptr;
      list.push_back(std::strtod(text.c_str() + i, &end));
      i = static_cast<std::size_t>(end - text.c_str()) + 1;
    }
    op_->defaults.add(name, std::span<const double>(list));
  } else if (rest == "list(string)" && value == "[]") {
    op_->defaults.add(name, std::span<const std::string>());
  } else if (rest == "list(type)" && value == "[]") {
    op_->defaults.add(name, std::span<const DType>());
  } else if (rest == "list(shape)" && value == "[]") {
    op_->defaults.add(name, std::span<const TensorShape>());
  } else {
    bad("has a default that is not understood:", spec);
  }
  return *this;
}

OpBuilder& OpBuilder::type(std::string_view name, TypeSet allowed, DType default_type) {
  int i = op_->find_attr(name);
  if (i < 0) {
    op_->attrs.push_back({std::string(name), "type", {}, false, false});
    i = static_cast<int>(op_->attrs.size()) - 1;
  }
  AttrDef& def = op_->attrs[static_cast<std::size_t>(i)];
  def.allowed = allowed;
  if (default_type.defined()) {
    def.has_default = true;
    op_->defaults.add(name, default_type);
  }
  return *this;
}

OpBuilder& OpBuilder::doc(std::string_view text) {
  op_->doc = text;
  return *this;
}
OpBuilder& OpBuilder::shape(ShapeFn fn) {
  op_->shape = fn;
  return *this;
}

std::uint32_t OpBuilder::mask_of(std::string_view names, bool outputs) const {
  std::uint32_t mask = 0;
  while (!names.empty()) {
    const auto space = names.find(' ');
    const std::string_view name = names.substr(0, space);
    names = space == std::string_view::npos ? std::string_view() : names.substr(space + 1);
    const int in = op_->find_input(name), out = op_->find_output(name);
    if (in < 0 && out < 0) bad("names an argument that it does not have:", name);
    if (!outputs && in >= 0) mask |= 1u << in;
    if (outputs && in < 0) mask |= 1u << out;
  }
  return mask;
}

OpBuilder& OpBuilder::gradient(GradFn fn, std::string_view saves) {
  op_->gradient = fn;
  op_->gradient_declared = true;
  op_->saved_inputs = mask_of(saves, false);
  op_->saved_outputs = mask_of(saves, true);
  return *this;
}
OpBuilder& OpBuilder::no_gradient() {
  op_->gradient_declared = true;
  return *this;
}
OpBuilder& OpBuilder::host(std::string_view names) {
  op_->host_inputs |= mask_of(names, false);
  return *this;
}
OpBuilder& OpBuilder::stateful() {
  op_->stateful = true;
  return *this;
}
OpBuilder& OpBuilder::elementwise() {
  op_->elementwise = true;
  return *this;
}
OpBuilder& OpBuilder::forward(ForwardFn fn) {
  op_->forward = fn;
  return *this;
}
OpBuilder& OpBuilder::view() {
  op_->view = true;
  return *this;
}
OpBuilder& OpBuilder::variable(VariableUse use) {
  op_->variable = use;
  op_->stateful = true;
  return *this;
}
OpBuilder& OpBuilder::calls(Calls which) {
  op_->calls = which;
  return *this;
}
OpBuilder& OpBuilder::taped_call(TapedCallFn fn) {
  op_->taped_call = fn;
  op_->gradient_declared = true;
  return *this;
}
OpBuilder& OpBuilder::of_shapes() {
  op_->of_shapes = true;
  return *this;
}
OpBuilder& OpBuilder::random() {
  op_->random = op_->stateful = true;
  return *this;
}
OpBuilder& OpBuilder::packed_input(std::string_view input_name) {
  op_->packed_input = op_->find_input(input_name);
  if (op_->packed_input < 0) bad("no input of this name", input_name);
  return *this;
}
OpBuilder& OpBuilder::adds_to(std::string_view input_name) {
  op_->adds_to = op_->find_input(input_name);
  if (op_->adds_to < 0) bad("no input of this name", input_name);
  return *this;
}
OpBuilder& OpBuilder::flops(FlopsFn fn) {
  op_->flops = fn;
  return *this;
}

const Op& OpBuilder::define() {
  int dispatch = op_->find_attr("T");
  for (std::size_t i = 0; dispatch < 0 && i < op_->attrs.size(); ++i)
    if (op_->attrs[i].type == "type") dispatch = static_cast<int>(i);
  if (dispatch >= 0) {
    for (std::size_t i = 0; i < op_->inputs.size() && op_->dispatch_input < 0; ++i)
      if (op_->inputs[i].type_attr == dispatch) op_->dispatch_input = static_cast<int>(i);
    if (op_->dispatch_input < 0) op_->dispatch_attr = dispatch;
  }
  op_->one_type = !op_->inputs.empty();
  for (const ArgDef& a : op_->inputs)
    op_->one_type = op_->one_type && a.type_attr == op_->inputs[0].type_attr && a.type_attr >= 0 &&
                    !a.is_list();
  if (op_->one_type)
    op_->one_type_allowed = op_->attrs[static_cast<std::size_t>(op_->inputs[0].type_attr)].allowed;
  op_->defined = true;
  return *op_;
}

const Op& find_op(std::string_view name) {
  auto it = table().find(name);
  if (it == table().end() || !it->second->defined)
    RILL_FAIL(not_found, "no op is called \"{}\".{}", name, did_you_mean(name, list_ops()));
  return *it->second;
}

std::vector<std::string> list_ops() {
  std::vector<std::string> out;
  for (const auto& [name, op] : table())
    if (op->defined) out.emplace_back(name);
  std::sort(out.begin(), out.end());
  return out;
}

KernelRegistration::KernelRegistration(std::string_view op, DeviceType device, TypeSet types,
                                       KernelFn fn) {
  Op& e = entry(op);
  if (types.empty()) e.set_kernel(device, DType(), fn);
  for (int i = 1; i < DType::kCount; ++i)
    if (const DType d{static_cast<DType::Code>(i)}; types.contains(d)) e.set_kernel(device, d, fn);
}
ManyUpdatesRegistration::ManyUpdatesRegistration(std::string_view update, DeviceType device,
                                                 ManyUpdatesFn fn) {
  entry(update).set_many_updates(device, fn);
}

}  // namespace rill
