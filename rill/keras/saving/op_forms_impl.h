#pragma once
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "rill/core/op.h"
#include "rill/core/tensor.h"
#include "rill/keras/config.h"

// How files of Keras write the ops of a model. Keras 2 calls functions of TensorFlow,
// "math.reduce_sum"; Keras 3 has its own ops, keras.src.ops.numpy's "Sum". One table holds both;
// the readers and the writers of both versions walk its rows.
namespace rill::keras {

class DrawnOp;
struct OpForm;

// A call as a file writes it; the names of its arguments are those of Keras 2.
struct WrittenCall {
  const OpForm* form = nullptr;
  Config first = {};  // a tensor, a constant, or a list of them
  Config arguments = Config::dict();
};

// Throws: a call `with what` has no form in the other version, or here.
using Refuse = std::function<void(const std::string& what)>;
// A value on its way to or from Keras 3; `arguments` are all of the call.
using ConvertArgument = Config (*)(const Config& value, const Config& arguments, const Refuse&);

// An argument of an op beside its first.
struct OpArgument {
  std::string keras2;  // its name in Keras 2; empty: it has none there
  std::string keras3;  // its name in Keras 3; empty: there it is always `in_keras3`
  // The input or attribute that it is: of several ops with one form, the first that the op has. An
  // op that has none of them has `otherwise`. Empty: files that Rill writes do not say it.
  std::vector<std::string> sources = {};
  bool computed = false;     // it may be a tensor of the model
  bool always_list = false;  // the op takes a list where a file may have a number
  bool with_call = false;    // Keras 3 gives it to the call, and not to the op's constructor ...
  bool by_name = false;      // ... and there by its name
  bool never_null = false;   // null means something in Keras 3 that Rill's op does not do
  Config otherwise = {};     // where a file does not say it
  Config in_keras3 = {};     // what it is in Keras 3 if that has no name for it
  ConvertArgument to_keras3 = nullptr, from_keras3 = nullptr;
  Tensor (*null_means)(const Tensor& first) = nullptr;
  Config (*write)(const DrawnOp& op) = nullptr;  // where it is not one input or attribute
};

// An argument of an op in a file: the tensor that it refers to, or a constant. Constants take
// the dtype of `like` where it is defined.
using ReadOperand = std::function<Tensor(const Config&, const Tensor& like)>;
// Calls Rill's function.
using DrawCall = std::vector<Tensor> (*)(const WrittenCall& call, const ReadOperand& operand);

struct OpForm {
  std::vector<std::string> ops;         // that are written so; empty: it is only read
  std::vector<std::string> functions;   // of Keras 2, "math.reduce_sum": written is the first
  std::vector<std::string> classes;     // of Keras 3, "Sum": likewise; empty: it has none
  std::string module3 = {};             // "numpy": where the class is
  std::vector<std::string> first = {};  // the input that has no name in a call, as `sources`
  std::string first3 = "x";             // its name in Keras 3
  bool list = false;                    // it is a list of tensors ...
  bool as_list = true;                  // ... in Keras 3 also, and not so many arguments
  bool arrays = false;                  // Keras 3 asks its constants for their shape
  std::vector<OpArgument> arguments = {};
  DrawCall draw = nullptr;

  const std::string& function() const { return functions.front(); }
  // Keras 2 writes the name of the result, null, of functions of one tensor or of two.
  bool names_result() const;
};

const std::vector<OpForm>& op_forms();  // all rows
// Null where there is none.
const OpForm* form_of_op(std::string_view op);
const OpForm* form_of_function(std::string_view function);  // of Keras 2
const OpForm* form_of_class(std::string_view class_name);   // of Keras 3

}  // namespace rill::keras
