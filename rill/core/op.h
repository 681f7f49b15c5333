#pragma once
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "rill/core/attr.h"
#include "rill/core/device.h"
#include "rill/core/dtype.h"

namespace rill {

class GradContext;
class KernelContext;
class ShapeContext;
using ShapeFn = void (*)(ShapeContext&);
using GradFn = void (*)(GradContext&);
using KernelFn = void (*)(KernelContext&) noexcept;
class Op;
// The op `update` for many variables at once: the inputs of one update after the other.
using ManyUpdatesFn = void (*)(KernelContext&, const Op& update) noexcept;
class AttrReader;
class In;
class Tensor;
class TensorShape;
// An op that works on handles alone and touches no element (Identity, Reshape,
// ReadVariableOp). Throws like ordinary code.
using ForwardFn = void (*)(const AttrReader& attrs, std::span<const In> inputs,
                           std::span<const TensorShape> shapes, std::span<Tensor> outputs);

// Runs an op that calls functions while a tape listens: so that the tape can go
// back through their bodies.
using TapedCallFn = std::vector<Tensor> (*)(std::span<const Tensor> inputs, AttrList attrs);

// Floating-point operations of a call with inputs and outputs of these shapes, a
// multiplication and an addition counted as two; 0 where shapes are not known.
using FlopsFn = std::int64_t (*)(std::span<const TensorShape> inputs,
                                 std::span<const TensorShape> outputs);

// What an op does to the variable that its first input, a handle, names.
enum class VariableUse : std::uint8_t {
  none,
  read,    // its value, as it is (ReadVariableOp)
  look,    // something of its value (ResourceGather)
  assign,  // gives it a new value
  update   // changes its value by a kernel, in place where nothing else holds it
};
// Which functions an op calls, by its attributes.
enum class Calls : std::uint8_t {
  none,
  function,  // one, with its inputs
  branch,    // one of several, chosen by its first input
  loop       // a condition and a body, over and over
};

// A set of dtypes.
class TypeSet {
 public:
  constexpr TypeSet() = default;
  constexpr TypeSet(std::initializer_list<DType> l) {
    for (DType d : l) bits_ |= 1u << static_cast<int>(d.code());
  }
  constexpr bool contains(DType d) const { return bits_ >> static_cast<int>(d.code()) & 1u; }
  constexpr bool empty() const { return bits_ == 0; }
  friend constexpr TypeSet operator|(TypeSet a, TypeSet b) { return TypeSet(a.bits_ | b.bits_); }
  std::string to_string() const;  // "float32, float64"

 private:
  explicit constexpr TypeSet(std::uint32_t bits) : bits_(bits) {}
  std::uint32_t bits_ = 0;
};
inline constexpr TypeSet kHalfTypes{float16, bfloat16};
inline constexpr TypeSet kRealFloatTypes{float32, float64};
inline constexpr TypeSet kFloatTypes = kHalfTypes | kRealFloatTypes;
inline constexpr TypeSet kComplexTypes{complex64, complex128};
inline constexpr TypeSet kSignedTypes{int8, int16, int32, int64};
inline constexpr TypeSet kUnsignedTypes{uint8, uint16, uint32, uint64};
inline constexpr TypeSet kIntegerTypes = kSignedTypes | kUnsignedTypes;
inline constexpr TypeSet kRealTypes = kFloatTypes | kIntegerTypes;
inline constexpr TypeSet kNumericTypes = kRealTypes | kComplexTypes;
inline constexpr TypeSet kPlainTypes = kNumericTypes | TypeSet{bool_};  // memcpy-able
inline constexpr TypeSet kAllTypes = kPlainTypes | TypeSet{string};
inline constexpr TypeSet kIndexTypes{int32, int64};

// An input or output: "x: T", "axis: int32", "values: N * T", "args: Tin" where
// Tin is a list(type) attribute declared before.
struct ArgDef {
  std::string name;
  DType dtype;              // when fixed
  int type_attr = -1;       // index into attrs, when the dtype is an attribute
  int number_attr = -1;     // index into attrs of the repeat count
  int type_list_attr = -1;  // index into attrs of the list of dtypes, one an element
  bool is_list() const { return number_attr >= 0 || type_list_attr >= 0; }
};

// "transpose_a: bool = false", "T: {float32, float64}", "N: int", "axis: list(int) = []".
struct AttrDef {
  std::string name;
  std::string
      type;         // "bool", "int", "float", "string", "type", "shape", "list(int)", ..., "tensor"
  TypeSet allowed;  // of a type
  bool has_default = false;
  bool inferred = false;  // follows from the inputs
};

// What is true of an op on any device. Made by OpBuilder, found in the
// registry, never destroyed, immutable after start-up except for the kernel table.
class Op {
 public:
  explicit Op(std::string op_name) : name(std::move(op_name)) {}
  std::string name;
  std::string tag;  // the public function, as messages show it: "matmul"
  std::vector<ArgDef> inputs, outputs;
  std::vector<AttrDef> attrs;
  AttrStorage defaults;
  std::string doc;
  ShapeFn shape = nullptr;
  GradFn gradient = nullptr;
  bool gradient_declared = false;  // a gradient, or an explicit none
  // What the gradient function reads: bit i = input i / output i. The tape
  // keeps nothing else.
  std::uint32_t saved_inputs = 0, saved_outputs = 0;
  std::uint32_t host_inputs = 0;  // bit i: read by the host (shapes, axes)
  bool stateful = false;          // not a pure function of its inputs
  bool elementwise = false;       // may be fused into chains
  ForwardFn forward = nullptr;    // works on handles alone; then there is no kernel
  bool view = false;              // output 0 is input 0 under another shape: the same memory
  // Traits that passes, planner and writers ask for, rather than for names.
  VariableUse variable = VariableUse::none;
  Calls calls = Calls::none;
  TapedCallFn taped_call = nullptr;
  bool of_shapes = false;   // the result follows from the shapes of the inputs (Shape, Rank)
  bool random = false;      // draws from a random stream
  int packed_input = -1;    // kernels reorder this input, a filter, and may keep it so
  int adds_to = -1;         // the kernel may write the result over this input, which it adds to
  FlopsFn flops = nullptr;  // null: bound by memory, not by arithmetic
  bool defined = false;
  bool list_types = false;  // an input or output is a list of any dtypes

  // Derived by OpBuilder.
  int dispatch_input = -1;  // the input whose dtype selects the kernel
  int dispatch_attr = -1;   // else the type attribute that does
  bool one_type = false;    // every input is a single tensor of one common type attribute
  TypeSet one_type_allowed;

  KernelFn kernel(DeviceType device, DType dtype) const {
    return kernels_[static_cast<int>(device)][static_cast<int>(dtype.code())];
  }
  void set_kernel(DeviceType device, DType dtype, KernelFn fn) {
    kernels_[static_cast<int>(device)][static_cast<int>(dtype.code())] = fn;
  }
  ManyUpdatesFn many_updates(DeviceType device) const {
    return many_updates_[static_cast<int>(device)];
  }
  void set_many_updates(DeviceType device, ManyUpdatesFn fn) {
    many_updates_[static_cast<int>(device)] = fn;
  }
  const AttrValue* find_default(std::string_view attr) const;
  int find_attr(std::string_view attr) const;  // -1: none
  RILL_API int find_input(std::string_view arg) const;
  int find_output(std::string_view arg) const;

  bool updates() const { return variable == VariableUse::update; }
  // Has no effect: reads of variables have none, though their results change.
  bool only_reads() const { return variable == VariableUse::read || variable == VariableUse::look; }
  bool has_effects() const { return stateful && !only_reads(); }

 private:
  KernelFn kernels_[kDeviceTypes][DType::kCount] = {};
  ManyUpdatesFn many_updates_[kDeviceTypes] = {};  // null: one by one
};

// Declares an op, in the form of TensorFlow's own registration:
//
//   const Op& matmul_op = OpBuilder("MatMul", "matmul")
//       .input("a: T").input("b: T").output("product: T")
//       .attr("transpose_a: bool = false").attr("transpose_b: bool = false")
//       .type("T", kNumericTypes)
//       .doc("...").shape(matmul_shape).gradient(matmul_grad, "a b").define();
//
// Names and types are TensorFlow's, so that GraphDefs interchange. A schema
// that cannot be read ends the program at start-up, with the op's name.
class OpBuilder {
 public:
  // `name` as in GraphDefs, `tag` the public function.
  OpBuilder(std::string_view name, std::string_view tag);
  OpBuilder& input(std::string_view spec);
  OpBuilder& output(std::string_view spec);
  OpBuilder& attr(std::string_view spec);
  OpBuilder& type(std::string_view name, TypeSet allowed, DType default_type = {});
  OpBuilder& doc(std::string_view text);
  OpBuilder& shape(ShapeFn fn);
  // `saves` lists the inputs and outputs that the gradient reads: "a b".
  OpBuilder& gradient(GradFn fn, std::string_view saves = "");
  OpBuilder& no_gradient();
  OpBuilder& host(std::string_view input_names);  // read by the host
  OpBuilder& stateful();
  OpBuilder& elementwise();
  OpBuilder& forward(ForwardFn fn);
  OpBuilder& view();  // the forward function shares input 0
  OpBuilder& variable(VariableUse use);
  OpBuilder& calls(Calls which);
  OpBuilder& taped_call(TapedCallFn fn);
  OpBuilder& of_shapes();
  OpBuilder& random();
  OpBuilder& packed_input(std::string_view input_name);
  OpBuilder& adds_to(std::string_view input_name);
  OpBuilder& flops(FlopsFn fn);
  const Op& define();

 private:
  ArgDef parse_arg(std::string_view spec, bool is_input);
  std::uint32_t mask_of(std::string_view names, bool outputs) const;
  [[noreturn]] void bad(std::string_view what, std::string_view spec) const;
  Op* op_;
};

// The op called `name`; NotFound with the nearest name when there is none.
const Op& find_op(std::string_view name);
// All defined ops, by name.
RILL_API std::vector<std::string> list_ops();

// Registers a kernel at start-up for each dtype in `types` (the dtype that
// selects is that of the op's attribute T, or of its first type attribute).
struct KernelRegistration {
  RILL_API KernelRegistration(std::string_view op, DeviceType device, TypeSet types, KernelFn fn);
};
// The same for the updates of many variables in one call.
struct ManyUpdatesRegistration {
  RILL_API ManyUpdatesRegistration(std::string_view update, DeviceType device, ManyUpdatesFn fn);
};
#define RILL_KERNEL_JOIN2(a, b) a##b
#define RILL_KERNEL_JOIN(a, b) RILL_KERNEL_JOIN2(a, b)
#define RILL_KERNEL(op, device, types, fn)                                   \
  [[maybe_unused]] static const ::rill::KernelRegistration RILL_KERNEL_JOIN( \
      kernel_registration_, __COUNTER__)(op, ::rill::DeviceType::device, types, fn)

}  // namespace rill
