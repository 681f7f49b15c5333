// The table of ops in files is whole: each row fits the ops that it speaks of.
#include "rill/keras/saving/op_forms_impl.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "rill/keras/engine/op_layer_impl.h"

namespace keras = rill::keras;
using keras::OpArgument, keras::OpForm;

namespace {

bool has(const rill::Op& op, const std::string& name) {
  return op.find_input(name) >= 0 || op.find_attr(name) >= 0;
}
bool has_any(const rill::Op& op, const std::vector<std::string>& names) {
  for (const std::string& name : names)
    if (has(op, name)) return true;
  return false;
}

TEST(OpForms, NamesAreThereOnce) {
  std::set<std::string> ops, functions, classes;
  for (const OpForm& form : keras::op_forms()) {
    for (const std::string& op : form.ops) EXPECT_TRUE(ops.insert(op).second) << op;
    for (const std::string& name : form.functions)
      EXPECT_TRUE(functions.insert(name).second) << name;
    for (const std::string& name : form.classes) EXPECT_TRUE(classes.insert(name).second) << name;
    EXPECT_EQ(form.classes.empty(), form.module3.empty()) << form.function();
  }
}

TEST(OpForms, ArgumentsAreThoseOfTheSchemas) {
  for (const OpForm& form : keras::op_forms()) {
    SCOPED_TRACE(form.function());
    for (const std::string& name : form.ops) {
      SCOPED_TRACE(name);
      const rill::Op& op = rill::find_op(name);
      EXPECT_TRUE(has_any(op, form.first));
      for (const OpArgument& a : form.arguments)
        EXPECT_TRUE(a.sources.empty() || has_any(op, a.sources) || !a.otherwise.is_null())
            << a.keras2;
      // Nothing is lost: each input is an argument.
      if (name == "StridedSlice") continue;  // its slices are one
      for (const rill::ArgDef& input : op.inputs) {
        bool said = false;
        for (const std::string& s : form.first) said = said || s == input.name;
        for (const OpArgument& a : form.arguments)
          for (const std::string& s : a.sources) said = said || s == input.name;
        EXPECT_TRUE(said) << input.name;
      }
    }
  }
}

TEST(OpForms, FollowFromTheSchemas) {
  const OpForm& sum = *keras::form_of_op("Sum");
  EXPECT_EQ(sum.function(), "math.reduce_sum");
  EXPECT_EQ(sum.module3 + "." + sum.classes[0], "numpy.Sum");
  ASSERT_EQ(sum.arguments.size(), 2u);
  EXPECT_EQ(sum.arguments[0].keras2, "axis");
  EXPECT_FALSE(sum.arguments[0].computed);
  EXPECT_EQ(sum.arguments[1].keras3, "keepdims");
  EXPECT_TRUE(keras::form_of_op("Exp")->names_result());
  EXPECT_TRUE(keras::form_of_op("Mul")->names_result());
  EXPECT_FALSE(sum.names_result());
  EXPECT_EQ(keras::form_of_function("math.divide"), keras::form_of_class("TrueDivide"));
  EXPECT_EQ(keras::form_of_op("Cumprod"), nullptr);
  EXPECT_EQ(keras::function_name(rill::find_op("Cumprod")), "raw_ops.Cumprod");
}

}  // namespace
