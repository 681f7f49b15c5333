// Programs that become GraphDefs.
#include <cmath>

#include "case.h"
#include "rill/rill.h"

namespace rill::graph_defs {
namespace {

// Numbers of both signs without a pattern, the same on every machine.
Tensor numbers(const std::vector<std::int64_t>& dims, double scale = 1, int phase = 0) {
  std::int64_t n = 1;
  for (std::int64_t d : dims) n *= d;
  std::vector<float> v;
  for (std::int64_t i = 0; i < n; ++i) {
    const std::int64_t k = (i * 37 + phase * 17 + 11) % 101;
    v.push_back(static_cast<float>(scale * static_cast<double>(k - 50) / 32));
  }
  return constant(v, float32, TensorShape(dims));
}
Tensor positive(const std::vector<std::int64_t>& dims, int phase = 0) {
  return abs(numbers(dims, 1, phase)) + 0.25f;
}

// Traces for exactly these inputs.
template <class F>
std::function<ConcreteFunction()> of(F f, std::vector<TensorSpec> specs) {
  return [f, specs] {
    return function(f, {.input_signature = specs, .name = "program"}).get_concrete_function_for({});
  };
}
template <class F>
Case plain(std::string name, std::vector<Tensor> inputs, F f) {
  std::vector<TensorSpec> specs;
  static const char* const names[] = {"x", "y", "z", "w"};
  for (std::size_t i = 0; i < inputs.size(); ++i)
    specs.emplace_back(inputs[i].shape(), inputs[i].dtype(), names[i]);
  return {std::move(name), of(f, specs), std::move(inputs)};
}
// The same with sizes that only the call knows.
template <class F>
Case any_size(std::string name, std::vector<Tensor> inputs, F f) {
  Case c = plain(std::move(name), std::move(inputs), f);
  std::vector<TensorSpec> specs;
  static const char* const names[] = {"x", "y", "z", "w"};
  for (std::size_t i = 0; i < c.inputs.size(); ++i)
    specs.emplace_back(TensorShape::unknown_dims(c.inputs[i].ndim()), c.inputs[i].dtype(),
                       names[i]);
  c.trace = of(f, specs);
  return c;
}

using List = std::vector<Tensor>;

// The cell of an LSTM: gates of [batch, 4 * units].
Tensors<2> lstm_cell(const Tensor& x, const Tensor& h, const Tensor& c, const Variable& kernel,
                     const Variable& recurrent, const Variable& bias) {
  const Tensor gates = matmul(x, kernel) + matmul(h, recurrent) + bias;
  const std::vector<Tensor> g = split(gates, 4, 1);
  const Tensor next = sigmoid(g[1]) * c + sigmoid(g[0]) * tanh(g[2]);
  return {{sigmoid(g[3]) * tanh(next), next}};
}

std::vector<Case> make_cases() {
  std::vector<Case> all;
  all.push_back(plain("arithmetic", {numbers({2, 3}), numbers({2, 3}, 1, 1)},
                      [](Tensor x, Tensor y) { return (x + y) * (x - y) / (abs(y) + 1.f) - -x; }));
  all.push_back(
      any_size("broadcasting", {numbers({2, 1, 3}), numbers({4, 1}, 1, 2)}, [](Tensor x, Tensor y) {
        return List{x * y + 1.f, maximum(x, y), squared_difference(x, y)};
      }));
  all.push_back(plain("comparison", {numbers({5}), numbers({5}, 1, 3)}, [](Tensor x, Tensor y) {
    const Tensor less_ = x < y;
    return List{where(less_, x, y), logical_and(less_, x > 0.f), logical_not(less_), x == y};
  }));
  all.push_back(plain("integers", {constant({7, -7, 8, 100}), constant({2, 3, -3, 7})},
                      [](Tensor x, Tensor y) {
                        return List{floordiv(x, y), floormod(x, y), truncatediv(x, y),
                                    bitwise::bitwise_and(x, y), bitwise::left_shift(x, abs(y))};
                      }));
  all.push_back(plain("elementary", {positive({3, 4})}, [](Tensor x) {
    return List{exp(x), log1p(x), sin(x), tanh(x), sigmoid(x), erf(x), rsqrt(x), pow(x, 1.5f)};
  }));
  all.push_back(any_size("reductions", {numbers({3, 4})}, [](Tensor x) {
    return List{reduce_sum(x, 1),      reduce_mean(x, 0, {.keepdims = true}),
                reduce_max(x),         reduce_min(x, 0),
                reduce_prod(x, 1),     reduce_any(x > 1.f),
                reduce_all(x < 9.f, 0)};
  }));
  all.push_back(plain("order", {numbers({3, 6})}, [](Tensor x) {
    const TopK top = nn::top_k(x, 3);
    return List{cumsum(x, 1), cumprod(x, 0, {.exclusive = true}),
                argmax(x, 1), argmin(x, {.axis = 0, .output_type = int32}),
                top.values,   top.indices};
  }));
  all.push_back(
      plain("matmul", {numbers({3, 4}), numbers({5, 4}, 1, 1), numbers({2, 3, 4}, 1, 2)},
            [](Tensor x, Tensor y, Tensor z) {
              return List{matmul(x, y, {.transpose_b = true}), matmul(z, transpose(z, {0, 2, 1}))};
            }));
  all.push_back(
      plain("einsum", {numbers({2, 3, 4}), numbers({4, 5}, 1, 1)}, [](Tensor x, Tensor y) {
        return einsum("bij,jk->bik", {x, y});
      }));
  all.push_back(plain("convolution",
                      {numbers({2, 6, 6, 3}), numbers({3, 3, 3, 4}, 0.5), numbers({4})},
                      [](Tensor x, Tensor filter, Tensor bias) {
                        return nn::relu(nn::bias_add(nn::conv2d(x, filter, 2, "SAME"), bias));
                      }));
  all.push_back(plain("depthwise", {numbers({1, 5, 5, 2}), numbers({3, 3, 2, 2}, 0.5)},
                      [](Tensor x, Tensor filter) {
                        return nn::depthwise_conv2d(x, filter, {1, 1, 1, 1}, "VALID");
                      }));
  all.push_back(plain("pooling", {numbers({2, 5, 5, 3})}, [](Tensor x) {
    return List{nn::max_pool2d(x, 2, 2, "VALID"), nn::avg_pool2d(x, 3, 2, "SAME")};
  }));
  all.push_back(plain("batch_norm", {numbers({2, 3, 3, 4}), positive({4}), numbers({4})},
                      [](Tensor x, Tensor scale, Tensor offset) {
                        const Tensor mean = constant({0.1f, -0.2f, 0.3f, 0.f});
                        const Tensor variance = constant({1.f, 2.f, 0.5f, 1.5f});
                        return nn::fused_batch_norm(
                                   x, scale, offset,
                                   {.mean = mean, .variance = variance, .is_training = false})
                            .t[0];
                      }));
  all.push_back(plain("layer_norm", {numbers({3, 4}), positive({4}), numbers({4}, 1, 1)},
                      [](Tensor x, Tensor gamma, Tensor beta) {
                        GradientTape tape;
                        tape.watch({x, gamma, beta});
                        const Tensor y = nn::layer_norm(x, gamma, beta);
                        const Gradients g = tape.gradient(square(y), {x, gamma, beta});
                        return List{y, g[0].tensor(), g[1].tensor(), g[2].tensor()};
                      }));
  all.push_back(plain(
      "cross_entropy", {numbers({3, 4}), constant({0, 3, 1})}, [](Tensor logits, Tensor labels) {
        return List{
            nn::softmax(logits), nn::log_softmax(logits),
            nn::sparse_softmax_cross_entropy_with_logits({.labels = labels, .logits = logits})};
      }));
  all.push_back(
      plain("gather_scatter", {numbers({5, 3}), constant({4, 0, 2})}, [](Tensor x, Tensor i) {
        const Tensor at = expand_dims(i, 1);
        return List{gather(x, i), gather_nd(x, at), scatter_nd(at, gather(x, i), constant({6, 3})),
                    tensor_scatter_nd_add(x, at, gather(x, i))};
      }));
  all.push_back(plain("slicing", {numbers({4, 5, 3})}, [](Tensor x) {
    return List{x[1], x(rill::all, slice(1, 4), -1), x(ellipsis, newaxis), x(slice(None, None, -2)),
                reverse(x, {2})};
  }));
  all.push_back(plain("pieces", {numbers({4, 6})}, [](Tensor x) {
    const List s = split(x, 3, 1), u = unstack(x);
    return List{concat({s[2], s[0]}, 0), stack({u[3], u[1]}), pad(s[1], {{1, 0}, {0, 2}}),
                tile(s[1], {1, 2}),      transpose(x),        split(x, {1, 3}, 0)[1]};
  }));
  all.push_back(any_size("dynamic_shape", {numbers({3, 4})}, [](Tensor x) {
    const Tensor s = shape(x);
    return List{reshape(x, stack({s[1], s[0]})), zeros(s), size(x), range(s[0]),
                broadcast_to(reduce_sum(x), s)};
  }));
  all.push_back(plain("strings", {constant({"Ab c", "", "xyz"}), constant({"1", "22", "333"})},
                      [](Tensor x, Tensor y) {
                        return List{strings::join({x, y}, "-"),
                                    strings::length(x),
                                    strings::upper(x),
                                    strings::substr(y, 0, 1),
                                    strings::regex_replace(x, "[a-z]", "<\\0>"),
                                    strings::to_hash_bucket_fast(x, 1000)};
                      }));
  all.push_back(plain("lookup_tables", {constant({"cat", "", "bird"})}, [](Tensor x) {
    const lookup::StaticHashTable names(lookup::KeyValueTensorInitializer({"cat", "dog"}, {0, 1}),
                                        -1);
    const lookup::StaticVocabularyTable words(
        lookup::KeyValueTensorInitializer({"cat", "dog"}, {0, 1}, {.value_dtype = int64}), 3);
    return List{names.lookup(x), names.size(), words.lookup(x)};
  }));
  all.push_back(plain("unicode", {constant({"gr\xc3\xbc\xc3\x9f", "", "\xff x"})}, [](Tensor x) {
    const auto [codes, starts] = strings::unicode_decode_with_offsets(x, "UTF-8");
    return List{codes.flat_values(),
                starts.flat_values(),
                codes.row_splits(),
                strings::unicode_script(codes.flat_values()),
                strings::unicode_encode(codes, "UTF-16-BE"),
                strings::unicode_transcode(x, "UTF-8", "UTF-32-BE"),
                strings::ngrams(strings::unicode_split(x), 2).flat_values()};
  }));
  all.push_back(plain("string_numbers", {constant({"1.5", "-2", "1e3"})}, [](Tensor x) {
    const Tensor n = strings::to_number(x);
    return List{n, strings::as_string(n * 2.f, {.precision = 2})};
  }));
  all.push_back(plain("cast", {numbers({2, 3}, 3)}, [](Tensor x) {
    return List{cast(x, int32), cast(cast(x, int64), bool_),     cast(x, float64),
                cast(x, uint8), cast(cast(x, float16), float32), cast(cast(x, bfloat16), float32)};
  }));
  all.push_back(
      plain("complex_numbers", {numbers({4}), numbers({4}, 1, 1)}, [](Tensor x, Tensor y) {
        const Tensor z = complex(x, y);
        return List{z * conj(z), real(z), imag(z), abs(z)};
      }));
  all.push_back(
      plain("segments", {numbers({5, 2}), constant({0, 0, 1, 3, 3})}, [](Tensor x, Tensor i) {
        const UniqueResult u = unique(i);
        return List{segment_sum(x, i), unsorted_segment_max(x, i, 4), u.y, u.idx, one_hot(i, 4)};
      }));
  all.push_back(plain("linear_algebra", {numbers({3, 3})}, [](Tensor x) {
    const Tensor a = matmul(x, x, {.transpose_b = true}) + eye(3);
    return List{linalg::cholesky(a), linalg::inv(a), linalg::det(a),
                linalg::solve(a, constant({{1.f}, {2.f}, {3.f}}))};
  }));
  {
    Case c = plain("random", {numbers({2, 3})}, [](Tensor x) {
      return List{random::uniform({2, 3}, 0., 1., {.seed = 7}) + x,
                  random::normal({4}, 0., 1., {.seed = 3})};
    });
    c.values = false;
    all.push_back(std::move(c));
  }
  all.push_back(plain("image", {positive({1, 3, 4, 2})}, [](Tensor x) {
    return image::resize(x, {6, 8});
  }));
  {
    auto inner = function([](Tensor x) { return nn::relu(x) * 2.f; }, {.name = "inner"});
    auto middle = function(
        [inner](Tensor x, Tensor y) {
          return List{inner(x), inner(x + y)};
        },
        {.name = "middle"});
    all.push_back(
        plain("nested_calls", {numbers({3}), numbers({3}, 1, 1)}, [middle](Tensor x, Tensor y) {
          const List r = middle(x, y);
          return r[0] - r[1];
        }));
    Case c = all.back();
    c.name = "whole_call";
    c.options.call = true;
    all.push_back(std::move(c));
  }
  {
    const Variable w1(numbers({4, 8}, 0.5), {.name = "dense/kernel"}),
        b1(numbers({8}), {.name = "dense/bias"}),
        w2(numbers({8, 3}, 0.5, 2), {.name = "out/kernel"}),
        b2(numbers({3}, 1, 1), {.name = "out/bias"});
    auto mlp = [=](Tensor x) { return nn::softmax(matmul(nn::relu(matmul(x, w1) + b1), w2) + b2); };
    all.push_back(any_size("mlp_frozen", {numbers({2, 4})}, mlp));
    // The first size is open, so the trace asks nothing of it; weights have theirs.
    all.back().trace = of(mlp, {TensorSpec({None, 4}, float32, "x")});
    all.push_back(plain("embedding", {constant({3, 1, 1})},
                        [w1](Tensor i) { return reduce_sum(w1.gather(i), 1); }));
    auto layer =
        function([w1, b1](Tensor x) { return tanh(matmul(x, w1) + b1); }, {.name = "layer"});
    all.push_back(plain("frozen_call", {numbers({2, 4})}, [layer](Tensor x) { return layer(x); }));
    all.back().options.call = true;
    all.push_back(plain("gradients", {numbers({2, 4})}, [w1, b1](Tensor x) {
      GradientTape tape;
      tape.watch(x);
      const Tensor y = reduce_sum(square(tanh(matmul(x, w1) + b1)));
      const Gradients g = tape.gradient(y, {x, w1, b1});
      return List{y, g[0].tensor(), g[1].tensor(), g[2].tensor()};
    }));
    all.push_back(plain("cond", {numbers({3}), constant(true)}, [b2](Tensor x, Tensor pred) {
      return cond(
          pred, [&] { return x + b2; }, [&] { return x * 2.f; });
    }));
    all.push_back(plain("loop_with_variable", {numbers({3})}, [b2](Tensor x) {
      const Nest r = while_loop([](Tensor i, Tensor) { return i < 4; },
                                [&](Tensor i, Tensor a) { return tuple(i + 1, a * 0.5f + b2); },
                                {Operand(0), Operand(x)});
      return r[1].as_tensor();
    }));
    const Variable kernel(numbers({3, 16}, 0.3), {.name = "lstm/kernel"}),
        recurrent(numbers({4, 16}, 0.3, 5), {.name = "lstm/recurrent_kernel"}),
        bias(numbers({16}, 0.1), {.name = "lstm/bias"});
    all.push_back(plain("lstm", {numbers({5, 2, 3})}, [=](Tensor x) {
      TensorArray outputs(float32, 5, {.element_shape = {2, 4}});
      const Nest r = while_loop(
          [](Tensor t, Tensor, Tensor, Tensor) { return t < 5; },
          [&](Tensor t, Tensor h, Tensor c, Tensor out) {
            const Tensors<2> next = lstm_cell(gather(x, t), h, c, kernel, recurrent, bias);
            return tuple(t + 1, next.t[0], next.t[1],
                         outputs.with_flow(out).write(t, next.t[0]).flow());
          },
          {Operand(0), Operand(zeros({2, 4})), Operand(zeros({2, 4})), Operand(outputs.flow())});
      return List{outputs.with_flow(r[3].as_tensor()).stack(), r[1].as_tensor(), r[2].as_tensor()};
    }));
  }
  all.push_back(plain("switch_case", {numbers({3}), constant(1)}, [](Tensor x, Tensor i) {
    return switch_case(i, {[&] { return x + 1.f; }, [&] { return x * 10.f; }, [&] { return -x; }})
        .as_tensor();
  }));
  all.push_back(plain("fibonacci", {constant(10)}, [](Tensor n) {
    const Nest r = while_loop([&](Tensor i, Tensor, Tensor) { return i < n; },
                              [](Tensor i, Tensor a, Tensor b) { return tuple(i + 1, b, a + b); },
                              {Operand(0), Operand(0), Operand(1)});
    return r[1].as_tensor();
  }));
  all.push_back(plain("sum_even", {constant({1, 2, 3, 4, 8, 9})}, [](Tensor items) {
    const Nest r =
        while_loop([&](Tensor i, Tensor) { return i < 6; },
                   [&](Tensor i, Tensor s) {
                     const Tensor v = gather(items, i);
                     return tuple(i + 1, cond(
                                             v % 2 > 0, [&] { return s; }, [&] { return s + v; }));
                   },
                   {Operand(0), Operand(0)});
    return r[1].as_tensor();
  }));
  all.push_back(plain("map_and_scan", {numbers({4, 2})}, [](Tensor x) {
    return List{map_fn([](Tensor row) { return reduce_sum(row) * row; }, Operand(x)),
                scan([](Tensor a, Tensor row) { return a * 0.5f + row; }, x, zeros({2}))};
  }));
  all.push_back(plain("loop_gradient", {numbers({3})}, [](Tensor x) {
    GradientTape tape;
    tape.watch(x);
    const Nest r = while_loop([](Tensor i, Tensor) { return i < 3; },
                              [&](Tensor i, Tensor a) { return tuple(i + 1, sin(a) * x); },
                              {Operand(0), Operand(x)});
    const Tensor y = r[1].as_tensor();
    return List{y, tape.gradient(y, x).tensor()};
  }));
  all.push_back(plain("array_gradient", {numbers({3})}, [](Tensor x) {
    GradientTape tape;
    tape.watch(x);
    const Nest r = while_loop(
        [](Tensor i, Tensor) { return i < 3; },
        [&](Tensor i, Tensor list) {
          const TensorArray a = TensorArray(float32, 3, {.element_shape = {}}).with_flow(list);
          return tuple(i + 1, a.write(i, reduce_sum(x * x) * cast(i, float32)).flow());
        },
        {Operand(0), Operand(TensorArray(float32, 3).flow())});
    const Tensor y = TensorArray(float32, 3).with_flow(r[1].as_tensor()).stack();
    return List{y, tape.gradient(y, x).tensor()};
  }));
  {
    Case c = plain("named_outputs", {numbers({3})}, [](Tensor x) {
      return Nest::dict({{"double", x * 2.f}, {"half", x * 0.5f}});
    });
    c.options.output_shapes = true;
    all.push_back(std::move(c));
  }
  {
    const Variable v(0.f, {.name = "counter"});
    Case c = plain("effects_in_order", {constant(3.f)}, [v](Tensor x) {
      v.assign(x);
      const Tensor first = v.value();
      v.assign_add(2.f);
      const Tensor second = v.value();
      v.assign(v.value() * 10.f);
      return List{first, second, v.value()};
    });
    c.options.freeze = false;
    all.push_back(c);
    c.name = "effects_in_call";
    c.options.call = true;
    all.push_back(std::move(c));
  }
  return all;
}

}  // namespace

const std::vector<Case>& cases() {
  static const auto* all = new std::vector<Case>(make_cases());
  return *all;
}

}  // namespace rill::graph_defs
