// Every op, with arguments that nobody would write: shapes of any rank, sizes
// of any size, attributes of any value. Each is read or refused; what is read
// has shapes that its own writer and reader agree on, and, if it is small, is run.
//
//   RILL_FUZZ=1000000 RILL_FUZZ_SEED=3 graph_def_test
//   --gtest_filter='FuzzOps.*'
#include <cstdlib>
#include <fstream>
#include <random>

#include "case.h"
#include "rill/core/op.h"
#include "rill/rill.h"

namespace rill::graph_defs {
namespace {

using Random = std::mt19937_64;

std::size_t below(Random& r, std::size_t n) { return n ? static_cast<std::size_t>(r() % n) : 0; }
template <class List>
auto any_of(Random& r, const List& list) {
  return list[below(r, std::size(list))];
}

const char* code_of(DType d) {
  static const std::map<std::string_view, const char*> codes = {
      {"float16", "DT_HALF"},        {"bfloat16", "DT_BFLOAT16"},
      {"float32", "DT_FLOAT"},       {"float64", "DT_DOUBLE"},
      {"int8", "DT_INT8"},           {"int16", "DT_INT16"},
      {"int32", "DT_INT32"},         {"int64", "DT_INT64"},
      {"uint8", "DT_UINT8"},         {"uint16", "DT_UINT16"},
      {"uint32", "DT_UINT32"},       {"uint64", "DT_UINT64"},
      {"bool", "DT_BOOL"},           {"string", "DT_STRING"},
      {"complex64", "DT_COMPLEX64"}, {"complex128", "DT_COMPLEX128"},
      {"resource", "DT_RESOURCE"},   {"variant", "DT_VARIANT"}};
  return codes.at(d.name());
}

// Mostly what a program would have; sometimes not.
DType any_type(Random& r, TypeSet allowed) {
  std::vector<DType> list;
  for (int i = 1; i < DType::kCount; ++i)
    if (const DType d{static_cast<DType::Code>(i)};
        allowed.empty() || allowed.contains(d) || below(r, 40) == 0)
      list.push_back(d);
  if (list.size() > 1 && below(r, 2)) return list[below(r, std::min<std::size_t>(4, list.size()))];
  return any_of(r, list);
}

std::string any_size(Random& r) {
  static const char* const odd[] = {"-1", "0", "1099511627776", "9223372036854775807", "65537"};
  if (below(r, 6) == 0) return any_of(r, odd);
  return std::to_string(1 + below(r, 5));
}
// Half of the calls are tame: ranks agree, strides are strides.
struct Taste {
  bool tame;
  std::size_t rank;
};
std::string any_shape(Random& r, Taste t) {
  if (below(r, t.tame ? 3 : 10) == 0) return "unknown_rank: true";
  std::string out;
  std::size_t rank = below(r, 12) == 0 ? 5 + below(r, 6) : below(r, 6);
  if (t.tame && below(r, 3)) rank = below(r, 5) ? t.rank : below(r, 2);
  for (std::size_t i = 0; i < rank; ++i) out += "dim { size: " + any_size(r) + " } ";
  return out;
}
std::string any_int(Random& r) {
  static const char* const odd[] = {
      "-1", "-2", "2147483648", "-9223372036854775808", "9223372036854775807", "1099511627776",
      "100"};
  if (below(r, 3) == 0) return any_of(r, odd);
  return std::to_string(below(r, 5));
}

// A tensor with few values, of which many are small whole numbers.
std::string any_tensor(Random& r, DType d, Taste t) {
  std::size_t n = below(r, 6);
  std::string shape = n == 5 ? (n = 1, "") : "dim { size: " + std::to_string(n) + " }";
  if (below(r, 12) == 0) shape = any_shape(r, t), n = 1;
  std::string out = "dtype: " + std::string(code_of(d)) + " tensor_shape { " + shape + " } ";
  const char* field = d == float32                    ? "float_val"
                      : d == float64                  ? "double_val"
                      : d == int64                    ? "int64_val"
                      : d == string                   ? "string_val"
                      : d == bool_                    ? "bool_val"
                      : d == float16 || d == bfloat16 ? "half_val"
                      : d == complex64                ? "scomplex_val"
                      : d == complex128               ? "dcomplex_val"
                      : d == uint32                   ? "uint32_val"
                      : d == uint64                   ? "uint64_val"
                                                      : "int_val";
  if (d.is_complex()) n *= 2;
  for (std::size_t i = 0; i < n; ++i) {
    const std::int64_t v = static_cast<std::int64_t>(below(r, 9)) - (d.is_unsigned() ? 0 : 3);
    out += std::string(field) + ": " +
           (d == string  ? "'ab'"
            : d == bool_ ? (v > 0 ? "true" : "false")
                         : std::to_string(d == float16 || d == bfloat16 ? 15360 : v)) +
           " ";
  }
  return out;
}

std::string any_attr(Random& r, const AttrDef& a, Taste t) {
  static const char* const words[] = {
      "SAME",  "VALID",      "EXPLICIT",  "NHWC",      "NCHW", "",
      "NDHWC", "REFLECT",    "SYMMETRIC", "UTF8_CHAR", "BYTE", "bij,jk->bik",
      "ij->",  "RIGHT_LEFT", "bilinear",  "NEAREST",   "(",    "a"};
  static const char* const numbers[] = {"0", "1", "-1", "0.5", "nan", "inf", "1e-30", "1e30"};
  auto several = [&](auto item) {
    std::string out = "list { ";
    const std::size_t n = below(r, 3) ? 4 : below(r, 8);
    for (std::size_t i = 0; i < n; ++i) out += item() + " ";
    return out + "}";
  };
  auto word = [&] { return "'" + std::string(any_of(r, words)) + "'"; };
  auto type = [&] { return std::string(code_of(any_type(r, a.allowed))); };
  if (t.tame && a.name == "padding") return below(r, 2) ? "s: 'SAME'" : "s: 'VALID'";
  if (t.tame && a.name == "data_format")
    return below(r, 2) ? "s: 'NCHW'" : t.rank == 5 ? "s: 'NDHWC'" : "s: 'NHWC'";
  if (t.tame && a.type == "list(int)" && below(r, 4)) {
    std::string out = "list { i: 1 ";
    for (std::size_t i = 2; i < t.rank; ++i) out += "i: " + std::to_string(1 + below(r, 3)) + " ";
    return out + "i: 1 }";
  }
  if (t.tame && a.name == "Tout") return "list { type: DT_FLOAT }";
  if (t.tame && a.name == "cond") return "func { name: 'two' }";
  if (t.tame && a.type == "func") return "func { name: 'one' }";
  if (a.type == "bool") return below(r, 2) ? "b: true" : "b: false";
  if (a.type == "int") return "i: " + any_int(r);
  if (a.type == "float") return std::string("f: ") + any_of(r, numbers);
  if (a.type == "string") return "s: " + word();
  if (a.type == "type") return "type: " + type();
  if (a.type == "shape") return "shape { " + any_shape(r, t) + " }";
  if (a.type == "tensor") return "tensor { " + any_tensor(r, any_type(r, kAllTypes), t) + " }";
  if (a.type == "func") return below(r, 2) ? "func { name: 'one' }" : "func { name: 'two' }";
  if (a.type == "list(int)")
    return several(
        [&] { return "i: " + (below(r, 4) ? std::to_string(1 + below(r, 3)) : any_int(r)); });
  if (a.type == "list(float)")
    return several([&] { return std::string("f: ") + any_of(r, numbers); });
  if (a.type == "list(string)") return several([&] { return "s: " + word(); });
  if (a.type == "list(bool)") return several([&] { return std::string("b: true"); });
  if (a.type == "list(type)") return several([&] { return "type: " + type(); });
  if (a.type == "list(shape)") return several([&] { return "shape { " + any_shape(r, t) + " }"; });
  return several([&] { return std::string("func { name: 'one' }"); });
}

const char* kLibrary = R"(library {
  function { signature { name: 'one' input_arg { name: 'a' type: DT_FLOAT }
                         output_arg { name: 'r' type: DT_FLOAT } }
    node_def { name: 'n' op: 'Neg' input: 'a' }
    ret { key: 'r' value: 'n:y:0' } }
  function { signature { name: 'two' input_arg { name: 'a' type: DT_FLOAT }
                         output_arg { name: 'r' type: DT_BOOL } }
    node_def { name: 'n' op: 'IsNan' input: 'a' }
    ret { key: 'r' value: 'n:y:0' } } }
)";

std::string any_call(Random& r, const Op& op) {
  std::string nodes, inputs, attrs;
  const Taste taste{below(r, 2) == 0, below(r, 6)};
  const bool calls = std::ranges::any_of(
      op.attrs, [](const AttrDef& a) { return a.type.find("func") != std::string::npos; });
  std::vector<DType> bound(op.attrs.size());
  for (std::size_t i = 0; i < op.attrs.size(); ++i) bound[i] = any_type(r, op.attrs[i].allowed);
  const std::size_t list = calls && taste.tame ? 1 : below(r, 4);
  int next = 0;
  for (const ArgDef& a : op.inputs) {
    for (std::size_t k = a.is_list() ? list : 1; k > 0; --k) {
      DType d = a.type_attr >= 0        ? bound[static_cast<std::size_t>(a.type_attr)]
                : a.type_list_attr >= 0 ? any_type(r, kAllTypes)
                                        : a.dtype;
      if (below(r, 50) == 0) d = any_type(r, {});
      if (calls && taste.tame && a.is_list()) d = float32;
      const std::string name = "in" + std::to_string(next++);
      const bool value = d != resource && d != variant &&
                         (taste.tame && d.is_floating() ? below(r, 8) == 0 : below(r, 2));
      nodes += "node { name: '" + name + "' ";
      if (d == resource && below(r, 4)) {
        nodes +=
            "op: 'VarHandleOp' attr { key: 'dtype' value { type: DT_FLOAT } } "
            "attr { key: 'shape' value { shape { " +
            any_shape(r, taste) + " } } } }\n";
      } else {
        nodes += std::string("op: '") + (value ? "Const" : "Placeholder") +
                 "' attr { key: 'dtype' value { type: " + code_of(d) + " } } attr { key: '" +
                 (value ? "value' value { tensor { " + any_tensor(r, d, taste)
                        : "shape' value { shape { " + any_shape(r, taste)) +
                 " } } } }\n";
      }
      inputs += "input: '" + name + "' ";
    }
  }
  for (const AttrDef& a : op.attrs)
    if (!a.inferred && (!a.has_default || below(r, 2)))
      attrs += "attr { key: '" + a.name + "' value { " + any_attr(r, a, taste) + " } } ";
  return nodes + "node { name: 'it' op: '" + op.name + "' " + inputs + attrs + "}\n" +
         (attrs.find("func {") != std::string::npos ? kLibrary : "");
}

// Large sizes would only fill the memory.
bool is_small(const std::string& text) {
  int digits = 0;
  for (char c : text) {
    digits = c >= '0' && c <= '9' ? digits + 1 : 0;
    if (digits > 3) return false;
  }
  return true;
}

// Something of each placeholder's dtype; sizes that are not known are 2.
std::vector<Tensor> arguments(const ImportedGraph& g) {
  std::vector<Tensor> out;
  for (const TensorSpec& p : g.placeholders()) {
    Dims dims;
    if (p.shape().has_rank())
      for (std::int64_t d : p.shape().dims()) dims.push_back(d < 0 ? 2 : d);
    const TensorShape shape(dims);
    out.push_back(p.dtype() == string ? fill(shape, "ab") : cast(ones(shape), p.dtype()));
  }
  return out;
}

long setting(const char* name, long otherwise) {
  const char* n = std::getenv(name);
  return n ? std::atol(n) : otherwise;
}

TEST(FuzzOps, AnyCallIsReadOrRefused) {
  const std::vector<std::string> ops = list_ops();
  const long only = setting("RILL_FUZZ_ONLY", -1), count = setting("RILL_FUZZ", 4000);
  const auto seed = static_cast<std::uint64_t>(setting("RILL_FUZZ_SEED", 1));
  long read = 0, refused = 0, tried = 0, ran = 0;
  for (long i = only >= 0 ? only : setting("RILL_FUZZ_FROM", 0); i < (only >= 0 ? only + 1 : count);
       ++i) {
    Random r(seed * 7'000'003 + static_cast<std::uint64_t>(i));
    const Op& op = find_op(ops[static_cast<std::size_t>(i) % ops.size()]);
    const std::string text = any_call(r, op);
    if (const char* path = std::getenv("RILL_FUZZ_KEEP"))
      std::ofstream(path) << "# case " << i << "\n" << text;
    try {
      const ImportedGraph g =
          import_graph_def(graph_def_from_text(text), {.max_fill_bytes = 1 << 20});
      ++read;
      std::vector<std::string> inputs;
      for (const TensorSpec& p : g.placeholders()) inputs.push_back(p.name());
      const ConcreteFunction f = g.function(inputs, {"it"});
      import_graph_def(to_graph_def(f, {.freeze = false}));
      // A loop need not end, and files are not to be written.
      if (!is_small(text) || op.calls == Calls::loop || op.name == "WriteFile") continue;
      ++tried;
      f(arguments(g));
      ++ran;
    } catch (const errors::DataLoss& e) {
      ADD_FAILURE() << "case " << i << " is not a graph: " << e.what() << "\n" << text;
    } catch (const errors::Internal& e) {
      ADD_FAILURE() << "case " << i << ": " << e.what() << "\n" << text;
    } catch (const errors::Error&) {
      ++refused;
    } catch (const std::exception& e) {
      ADD_FAILURE() << "case " << i << ": " << e.what() << "\n" << text;
    }
  }
  EXPECT_TRUE(only >= 0 || (read > count / 50 && refused > 0)) << read << " of " << count;
  EXPECT_TRUE(only >= 0 || ran > tried / 10) << ran << " of " << tried << " ran";
}

}  // namespace
}  // namespace rill::graph_defs
