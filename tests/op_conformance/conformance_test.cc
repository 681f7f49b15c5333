// Every row of the table on every axis: values against TensorFlow's, gradients
// against finite differences, the shape function against real shapes, the test
// device and other thread counts against the plain run, errors against their text.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <cstring>

#include "conformance.h"
#include "golden.h"
#include "gpu_ops.h"
#include "rill/base/parallel.h"
#include "rill/core/gpus.h"
#include "rill/core/shape_inference.h"
#include "rill/core/tensor_impl.h"
#include "rill/core/test_device.h"
#include "rill/core/type_dispatch.h"
#include "rill/eager/context.h"
#include "rill/eager/gradient_tape.h"
#include "rill/ops/array_ops.h"
#include "rill/ops/math_ops.h"
#include "row.h"

namespace rill::conformance {
namespace {

double tolerance_for(const Row& r, DType d) {
  if (r.tol == 0) return 0;
  if (d == float64 || d == complex128) return std::max(1e-12, r.tol * r.tol);
  if (d == float16) return std::max(4e-3, r.tol);
  if (d == bfloat16) return std::max(3e-2, r.tol);
  return r.tol;
}

TEST_P(Conformance, EqualsTensorFlow) {
  for_each([&](std::size_t s, const Sample& sample, DType d) {
    const auto inputs = make_inputs(row(), sample, d);
    const auto got = run(row(), sample, inputs);
    if (!row().no_tensorflow.empty()) return;
    const auto golden = goldens().find(key(row(), s, d));
    ASSERT_NE(golden, goldens().end()) << "no golden: run `make parity UPDATE=1`";
    ASSERT_EQ(golden->second.checksum, checksum(inputs, sample))
        << "the sample changed: run `make parity UPDATE=1`";
    if (!golden->second.error.empty()) {  // TensorFlow has no kernel for this dtype
      ASSERT_NE(d, float32) << golden->second.error;
      return;
    }
    const auto& want = golden->second.outputs;
    ASSERT_EQ(got.size(), want.size());
    for (std::size_t i = 0; i < got.size(); ++i)
      EXPECT_EQ(difference(got[i], want[i], tolerance_for(row(), d)), "") << "output " << i;
  });
}

TEST_P(Conformance, SameOnTestDevice) {
  Device& device = test_device();
  for_each([&](std::size_t, const Sample& sample, DType d) {
    const auto inputs = make_inputs(row(), sample, d);
    const auto want = run(row(), sample, inputs);
    std::vector<Tensor> moved;
    for (const Tensor& t : inputs) moved.push_back(copy_to_device(t, device));
    const auto got = run(row(), sample, moved);
    ASSERT_EQ(got.size(), want.size());
    for (std::size_t i = 0; i < got.size(); ++i)
      EXPECT_EQ(difference(to_host(got[i]), want[i], 0), "") << "output " << i;
  });
}

#if RILL_WITH_CUDA
// What the tests compare with is the host's.
[[maybe_unused]] const int on_host_by_default = setenv("RILL_DEFAULT_DEVICE", "cpu", 1);

// The first GPU; null, with the reason, when there is none.
Device* gpu(std::string* why) {
  *why = start_gpus();
  for (Device* d : all_devices())
    if (d->type() == DeviceType::gpu) return d;
  return nullptr;
}
// Kernels of a GPU are those of the CPU except for the order of sums and the last
// bits of elementary functions, so that "exact" is not asked of them.
TEST_P(Conformance, SameOnGpu) {
  std::string why;
  Device* device = gpu(&why);
  if (!device) GTEST_SKIP() << why;
  config::set_soft_device_placement(false);
  int ran = 0, missing = 0;
  for_each([&](std::size_t, const Sample& sample, DType d) {
    const auto inputs = make_inputs(row(), sample, d);
    const auto want = run(row(), sample, inputs);
    // Variables were changed by that run: made again.
    std::vector<Tensor> moved;
    for (const Tensor& t : make_inputs(row(), sample, d)) {
      moved.push_back(copy_to_device(t, *device));
      if (!t.impl()->resource) continue;
      Tensor& value = variable_cell(t).slot().value;
      value = copy_to_device(value, *device);
    }
    std::vector<Tensor> got;
    try {
      got = run(row(), sample, moved);
      device->synchronize();
    } catch (const errors::Unimplemented&) {
      ++missing;
      return;
    }
    ++ran;
    ASSERT_EQ(got.size(), want.size());
    for (std::size_t i = 0; i < got.size(); ++i)
      EXPECT_EQ(difference(to_host(got[i]), want[i], std::max(4e-6, tolerance_for(row(), d))), "")
          << "output " << i;
  });
  if (missing) std::cout << row().name << ": " << ran << " on the GPU, " << missing << " without\n";
}
#endif

TEST_P(Conformance, SameBitsAtEveryWidth) {
  for_each([&](std::size_t, const Sample& sample, DType d) {
    if (d != float32) return;
    const auto inputs = make_inputs(row(), sample, d);
    std::vector<Tensor> one, two;
    {
      ComputeWidthScope width(1);
      one = run(row(), sample, inputs);
    }
    {
      ComputeWidthScope width(2);
      two = run(row(), sample, inputs);
    }
    for (std::size_t i = 0; i < one.size(); ++i)
      EXPECT_EQ(difference(two[i], one[i], 0), "") << "output " << i;
  });
}

// A tensor of unknown value: some sizes hidden, or the rank too.
Tensor hidden(const Tensor& t, bool rank_too) {
  struct Anything : Symbol {
    std::string name() const override { return "anything:0"; }
    std::string describe() const override { return "any tensor"; }
  };
  auto* impl = new TensorImpl(
      t.dtype(), rank_too ? TensorShape::unknown_rank() : TensorShape::unknown_dims(t.ndim()));
  impl->symbol = Ref<Symbol>(new Anything);
  return Tensor(Ref<TensorImpl>(impl));
}

TEST_P(Conformance, ShapeFunctionAcceptsTheUnknown) {
  if (row().composite) return;
  const Op& op = find_op(row().name);
  for_each([&](std::size_t, const Sample& sample, DType d) {
    for (const Input& i : sample.inputs)
      if (i.kind == Input::Kind::variable) return;
    const auto inputs = make_inputs(row(), sample, d);
    const auto got = run(row(), sample, inputs);
    for (int what = 0; what < 4; ++what) {  // host inputs known or not; sizes or ranks hidden
      std::vector<Tensor> partial;
      for (std::size_t i = 0; i < inputs.size(); ++i) {
        const bool host = op.host_inputs >> std::min(i, op.inputs.size() - 1) & 1;
        partial.push_back(host && what < 2 ? inputs[i] : hidden(inputs[i], what % 2 == 1));
      }
      const auto in = as_inputs(partial);
      std::vector<TensorShape> shapes(got.size());
      ShapeContext context(op, in, sample.attrs.list(), shapes);
      ASSERT_NO_THROW(op.shape(context));
      for (std::size_t i = 0; i < got.size(); ++i)
        EXPECT_TRUE(shapes[i].is_compatible_with(got[i].shape()))
            << "inferred " << shapes[i] << " but the output is " << got[i].shape();
    }
    // With everything known the shape must be exact, unless the data decide it.
    std::vector<TensorShape> shapes(got.size());
    const auto in = as_inputs(inputs);
    ShapeContext context(op, in, sample.attrs.list(), shapes);
    op.shape(context);
    for (std::size_t i = 0; i < got.size(); ++i) {
      if (shapes[i].is_fully_defined()) {
        EXPECT_EQ(shapes[i], got[i].shape());
      }
    }
  });
}

bool is_real(DType d) { return d == float64; }

// sum(output * weight) over the differentiable outputs, with fixed weights.
Tensor objective(const std::vector<Tensor>& outputs) {
  Tensor sum;
  for (std::size_t k = 0; k < outputs.size(); ++k) {
    const Tensor& y = outputs[k];
    if (!is_real(y.dtype()) || y.size() == 0) continue;
    std::vector<double> w;
    for (std::int64_t i = 0; i < y.size(); ++i)
      w.push_back(0.5 + 0.37 * static_cast<double>((i * 7 + static_cast<std::int64_t>(k) * 3) % 5));
    const Tensor part = reduce_sum(y * constant(w, float64, y.shape()));
    sum = sum.defined() ? sum + part : part;
  }
  return sum;
}

Tensor with_element(const Tensor& t, std::int64_t i, double delta) {
  Tensor copy = make_tensor(t.dtype(), t.shape());
  std::memcpy(copy.impl()->data, t.impl()->data,
              static_cast<std::size_t>(t.size()) * sizeof(double));
  mutable_data<double>(copy)[i] += delta;
  return copy;
}

// d value(input k + t e_i) / dt by central differences of fourth order.
template <class F>
double numeric(const std::vector<Tensor>& inputs, std::size_t k, std::int64_t i, F value) {
  constexpr double h = 1e-3;
  auto at = [&](double delta) {
    std::vector<Tensor> moved = inputs;
    moved[k] = with_element(inputs[k], i, delta);
    return value(moved);
  };
  return (8 * (at(h) - at(-h)) - (at(2 * h) - at(-2 * h))) / (12 * h);
}

TEST_P(Conformance, GradientEqualsFiniteDifferences) {
  const Op* op = row().composite ? nullptr : &find_op(row().name);
  if ((op && !op->gradient) || !row().no_gradient.empty() || !row().types.contains(float64)) return;
  for (std::size_t s = 0; s < row().samples.size(); ++s) {
    const Sample& sample = row().samples[s];
    SCOPED_TRACE(key(row(), s, float64));
    const auto inputs = make_inputs(row(), sample, float64);
    std::vector<std::size_t> wanted;
    std::int64_t elements = 0;
    for (std::size_t k = 0; k < inputs.size(); ++k)
      if (is_real(inputs[k].dtype()) && sample.inputs[k].differentiable && inputs[k].size() > 0) {
        wanted.push_back(k);
        elements += inputs[k].size();
      }
    bool finite = elements > 0 && elements <= 400;
    for (std::size_t k : wanted)
      for (double v : inputs[k].to_vector<double>()) finite = finite && std::isfinite(v);
    if (!finite) continue;
    const auto plain = run(row(), sample, inputs);
    if (!objective(plain).defined()) continue;

    std::vector<Tensor> sources;
    for (std::size_t k : wanted) sources.push_back(inputs[k]);
    auto gradients = [&](const std::vector<Tensor>& at) {
      GradientTape tape;
      std::vector<Tensor> by;
      for (std::size_t k : wanted) tape.watch(at[k]), by.push_back(at[k]);
      const Tensor y = objective(run(row(), sample, at));
      return tape.gradient(y, by, {.unconnected_gradients = "zero"});
    };
    const Gradients analytic = gradients(inputs);
    for (std::size_t g = 0; g < wanted.size(); ++g) {
      ASSERT_TRUE(analytic[g].defined()) << "no gradient for input " << wanted[g];
      ASSERT_EQ(analytic[g].shape(), inputs[wanted[g]].shape()) << "input " << wanted[g];
      const auto got = analytic[g].to_vector<double>();
      for (std::int64_t i = 0; i < inputs[wanted[g]].size(); ++i) {
        const double want = numeric(inputs, wanted[g], i, [&](const std::vector<Tensor>& at) {
          return objective(run(row(), sample, at)).item<double>();
        });
        ASSERT_NEAR(got[static_cast<std::size_t>(i)], want, 1e-6 * std::max(1.0, std::abs(want)))
            << "input " << wanted[g] << " element " << i;
      }
    }
    if (!row().second_order || elements > 60) continue;
    // Second order: the directional derivative of the gradient along fixed weights.
    auto slope = [&](const std::vector<Tensor>& at) {
      std::vector<Tensor> parts;
      for (const Gradient& g : gradients(at)) parts.push_back(g.tensor());
      return objective(parts);
    };
    GradientTape outer;
    for (const Tensor& t : sources) outer.watch(t);
    const Tensor first = slope(inputs);
    const Gradients second = outer.gradient(first, sources, {.unconnected_gradients = "zero"});
    for (std::size_t g = 0; g < wanted.size(); ++g) {
      const auto got = second[g].to_vector<double>();
      for (std::int64_t i = 0; i < inputs[wanted[g]].size(); ++i) {
        const double want = numeric(inputs, wanted[g], i, [&](const std::vector<Tensor>& at) {
          return slope(at).item<double>();
        });
        ASSERT_NEAR(got[static_cast<std::size_t>(i)], want, 1e-5 * std::max(1.0, std::abs(want)))
            << "second order, input " << wanted[g] << " element " << i;
      }
    }
  }
}

TEST_P(Conformance, ErrorsSayWhatIsWrong) {
  for (std::size_t e = 0; e < row().errors.size(); ++e) {
    const Sample& sample = row().errors[e];
    SCOPED_TRACE(format("{} error {}", row().name, e));
    const auto inputs =
        make_inputs(row(), sample, row().types.contains(float32) ? float32 : dtypes_of(row())[0]);
    try {
      run(row(), sample, inputs);
      ADD_FAILURE() << "no error; expected: " << sample.error;
    } catch (const errors::Error& error) {
      EXPECT_THAT(error.message(), ::testing::ContainsRegex(sample.error));
      EXPECT_NE(error.code(), Code::internal);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Table, Conformance, every_row(), row_name);

// Ops that programs do not call: parts of graphs, whose inputs are lists or functions, and what
// passes make. The tests of the graph room run them.
bool is_part_of_graphs(std::string_view name) {
  for (std::string_view part : {"PartitionedCall", "If", "Case", "While", "TensorList", "PyFunc"})
    if (name.find(part) != std::string_view::npos) return true;
  for (std::string_view one : {"Const", "Placeholder", "IdentityN", "NoOp", "_FusedMatMul",
                               "_FusedConv2D", "_MatMulAdd", "_ApplyMany"})
    if (name == one) return true;
  return false;
}

// Their results are files, or made of them: the tests of io and of lookup tables run them. The last
// is what restoring a checkpoint does.
bool works_on_files(std::string_view name) {
  return name == "ReadFile" || name == "WriteFile" || name == "MatchingFiles" ||
         name == "InitializeTableFromTextFileV2" || name == "LookupTableImportV2";
}

// What every registered op must have.
TEST(Completeness, EveryOpIsWhole) {
  for (const std::string& name : list_ops()) {
    const Op& op = find_op(name);
    SCOPED_TRACE(name);
    EXPECT_FALSE(op.doc.empty()) << "no doc";
    EXPECT_NE(op.shape, nullptr) << "no shape function";
    EXPECT_TRUE(op.gradient_declared) << "neither gradient() nor no_gradient()";
    EXPECT_FALSE(op.tag.empty());
    bool kernel = op.forward != nullptr;
    TypeSet allowed;
    const int attr = op.dispatch_input >= 0
                         ? op.inputs[static_cast<std::size_t>(op.dispatch_input)].type_attr
                         : op.dispatch_attr;
    if (attr >= 0) allowed = op.attrs[static_cast<std::size_t>(attr)].allowed;
    for (int i = 0; i < DType::kCount && !op.forward; ++i) {
      const DType d{static_cast<DType::Code>(i)};
      kernel = kernel || op.kernel(DeviceType::cpu, d);
      if (allowed.contains(d)) {
        EXPECT_NE(op.kernel(DeviceType::cpu, d), nullptr) << "no CPU kernel for " << d.name();
      }
    }
    if (is_part_of_graphs(name) || works_on_files(name)) continue;
    EXPECT_TRUE(kernel) << "no CPU kernel";
    bool has_row = false;
    for (const Row* r : table()) has_row = has_row || r->name == name;
    EXPECT_TRUE(has_row) << "no conformance row";
  }
}

}  // namespace
}  // namespace rill::conformance

int main(int argc, char** argv) {
  for (int i = 1; i < argc; ++i)
    if (const std::string_view arg = argv[i]; arg.starts_with("--write_requests=")) {
      rill::conformance::write_requests(std::string(arg.substr(17)));
      return 0;
    }
#if RILL_ALL_CUDA_KERNELS
  for (int i = 1; i < argc; ++i)
    if (std::string_view(argv[i]) == "--print_gpu_ops") {
      std::cout << rill::conformance::gpu_ops_page();
      return 0;
    }
#endif
  ::testing::InitGoogleMock(&argc, argv);
  return RUN_ALL_TESTS();
}
