#include "golden.h"

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "rill/core/tensor_impl.h"
#include "rill/core/type_dispatch.h"
#include "rill/ops/array_ops.h"

namespace rill::conformance {
namespace {

std::string hex(const std::string& s) {
  static const char* digits = "0123456789abcdef";
  std::string out = "x";
  for (unsigned char c : s) out += {digits[c >> 4], digits[c & 15]};
  return out;
}
std::string unhex(const std::string& s) {
  std::string out;
  for (std::size_t i = 1; i + 1 < s.size(); i += 2)
    out += static_cast<char>(std::stoi(s.substr(i, 2), nullptr, 16));
  return out;
}

std::string number(double v) {
  char text[40];
  std::snprintf(text, sizeof text, "%.17g", v);
  return text;
}

void write_tensor(std::ostream& os, const Tensor& t) {
  os << t.dtype().name() << " ";
  for (int i = 0; i < t.ndim(); ++i) os << (i ? "," : "") << t.shape().dim(i);
  if (t.ndim() == 0) os << "-";
  if (t.dtype() == string) {
    for (const std::string& s : t.to_vector<std::string>()) os << " " << hex(s);
  } else if (t.dtype().is_complex()) {
    for (const auto& z : t.to_vector<std::complex<double>>())
      os << " " << number(z.real()) << " " << number(z.imag());
  } else if (t.dtype() == uint64) {
    for (std::uint64_t v : t.to_vector<std::uint64_t>()) os << " " << v;
  } else if (t.dtype().is_integer() || t.dtype() == bool_) {
    for (std::int64_t v : t.to_vector<std::int64_t>()) os << " " << v;
  } else {
    for (double v : t.to_vector<double>()) os << " " << number(v);
  }
}

Tensor read_tensor(std::istringstream& in) {
  std::string dtype, shape, word;
  in >> dtype >> shape;
  Dims dims;
  if (shape != "-") {
    std::istringstream list(shape);
    for (std::string d; std::getline(list, d, ',');) dims.push_back(std::atoll(d.c_str()));
  }
  Tensor t = make_tensor(DType::from_name(dtype), TensorShape(dims));
  dispatch_all(t.dtype(), [&]<class T>() {
    for (std::int64_t i = 0; i < t.size(); ++i) {
      in >> word;
      T& to = mutable_data<T>(t)[i];
      if constexpr (std::is_same_v<T, std::string>)
        to = unhex(word);
      else if constexpr (std::is_same_v<T, bool>)
        to = word == "1";
      else if constexpr (std::is_same_v<T, std::uint64_t>)
        to = std::strtoull(word.c_str(), nullptr, 10);
      else if constexpr (std::is_integral_v<T>)
        to = static_cast<T>(std::strtoll(word.c_str(), nullptr, 10));
      else if constexpr (requires(T z) { z.real(); }) {
        const double re = std::strtod(word.c_str(), nullptr);
        in >> word;
        to = T(static_cast<typename T::value_type>(re),
               static_cast<typename T::value_type>(std::strtod(word.c_str(), nullptr)));
      } else
        to = static_cast<T>(std::strtod(word.c_str(), nullptr));
    }
  });
  return t;
}

std::string attr_text(const AttrValue& v) {
  auto list = [](const auto& items, auto text) {
    std::string out = "[";
    for (const auto& i : items) out += (out.size() > 1 ? "," : "") + text(i);
    return out + "]";
  };
  switch (v.kind()) {
    case AttrValue::Kind::boolean:
      return v.as_bool() ? "b:1" : "b:0";
    case AttrValue::Kind::integer:
      return "i:" + std::to_string(v.as_int());
    case AttrValue::Kind::floating:
      return "f:" + number(v.as_float());
    case AttrValue::Kind::text:
      return "s:" + hex(std::string(v.as_string()));
    case AttrValue::Kind::type:
      return std::string("t:") + v.as_type().name();
    case AttrValue::Kind::shape:
      return "h:" + list(v.as_shape().as_list(), [](std::int64_t i) { return std::to_string(i); });
    case AttrValue::Kind::integers:
      return "li:" + list(v.as_ints(), [](std::int64_t i) { return std::to_string(i); });
    case AttrValue::Kind::floatings:
      return "lf:" + list(v.as_floats(), number);
    case AttrValue::Kind::texts:
      return "ls:" + list(v.as_strings(), hex);
    case AttrValue::Kind::types:
      return "lt:" + list(v.as_types(), [](DType d) { return std::string(d.name()); });
    default:
      return "?";
  }
}

std::string source_dir() {
  const char* dir = std::getenv("RILL_SOURCE_DIR");
  return dir ? dir : ".";
}

}  // namespace

std::string key(const Row& row, std::size_t sample, DType dtype) {
  return row.name + "/" + std::to_string(sample) + "/" + dtype.name();
}

std::string checksum(const std::vector<Tensor>& inputs, const Sample& sample) {
  std::ostringstream text;
  for (const Tensor& t : inputs) write_tensor(text, t), text << ";";
  for (const Attr& a : sample.attrs.list()) text << a.name << "=" << attr_text(a.value) << ";";
  std::uint64_t h = 1469598103934665603ull;
  for (unsigned char c : text.str()) h = (h ^ c) * 1099511628211ull;
  char out[20];
  std::snprintf(out, sizeof out, "%016llx", static_cast<unsigned long long>(h));
  return out;
}

const std::map<std::string, Golden>& goldens() {
  static const auto* all = [] {
    auto* map = new std::map<std::string, Golden>;
    const std::string folder = source_dir() + "/tests/op_conformance/goldens";
    if (!std::filesystem::is_directory(folder)) return map;
    for (const auto& file : std::filesystem::directory_iterator(folder)) {
      std::ifstream in(file.path());
      Golden* current = nullptr;
      for (std::string line; std::getline(in, line);) {
        std::istringstream words(line);
        std::string kind, name;
        words >> kind;
        if (kind == "row") {
          words >> name;
          current = &(*map)[name];
          words >> current->checksum;
        } else if (kind == "out" && current) {
          current->outputs.push_back(read_tensor(words));
        } else if (kind == "error" && current) {
          std::getline(words, current->error);
        }
      }
    }
    return map;
  }();
  return *all;
}

void write_requests(const std::string& path) {
  std::ofstream os(path);
  for (const Row* r : table()) {
    if (!r->no_tensorflow.empty()) continue;
    for (std::size_t s = 0; s < r->samples.size(); ++s) {
      for (int i = 1; i < DType::kCount; ++i) {
        const DType d{static_cast<DType::Code>(i)};
        if (!r->types.contains(d)) continue;
        const Sample& sample = r->samples[s];
        const auto inputs = make_inputs(*r, sample, d);
        os << "row " << key(*r, s, d) << " " << checksum(inputs, sample) << " " << r->name << " "
           << sample.outputs << "\n";
        if (!r->tf_expression.empty()) os << "tf " << r->tf_expression << "\n";
        for (std::size_t k = 0; k < inputs.size(); ++k) {
          os << (sample.inputs[k].kind == Input::Kind::variable ? "var " : "in ");
          write_tensor(os, inputs[k]);
          os << "\n";
        }
        // The dtype under test is an attribute where no input carries it.
        for (const Attr& a : sample.attrs.list())
          os << "attr " << a.name << " " << attr_text(a.value) << "\n";
        // Names of the inputs, and how many tensors each takes.
        if (!r->composite) {
          const Op& op = find_op(r->name);
          for (const ArgDef& a : op.inputs)
            os << "arg " << a.name << " " << (a.number_attr >= 0 ? 1 : 0) << "\n";
        }
      }
    }
  }
}

}  // namespace rill::conformance
