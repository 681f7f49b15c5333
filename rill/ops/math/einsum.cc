// Products over labelled axes: einsum and tensordot. Everything becomes
// transposes, reshapes, sums and one matrix product a pair of tensors.
#include <algorithm>
#include <map>

#include "rill/ops/array_ops.h"
#include "rill/ops/math_ops.h"
#include "rill/ops/op_helpers.h"

namespace rill {
namespace {

using Labels = std::vector<int>;
// A tensor whose axes have labels.
struct Labelled {
  Tensor t;
  Labels labels;
};

bool has(const Labels& l, int label) { return std::find(l.begin(), l.end(), label) != l.end(); }
int place(const Labels& l, int label) {
  return static_cast<int>(std::find(l.begin(), l.end(), label) - l.begin());
}
Labels joined(std::initializer_list<const Labels*> lists) {
  Labels out;
  for (const Labels* l : lists) out.insert(out.end(), l->begin(), l->end());
  return out;
}

// A shape in the making: sizes that are known, and sizes that only the running
// program knows.
class Sizes {
 public:
  void add(std::int64_t n) { known_.push_back(n), unknown_.emplace_back(); }
  void add(const Tensor& t, int axis) {
    const std::int64_t n = t.shape().dim(axis);
    known_.push_back(n), unknown_.push_back(n < 0 ? shape(t)[axis] : Tensor());
  }
  // The product of the sizes of axes [first, last).
  void add(const Tensor& t, int first, int last) {
    std::int64_t n = 1;
    for (int i = first; i < last; ++i)
      n = t.shape().dim(i) < 0 || n < 0 ? -1 : n * t.shape().dim(i);
    known_.push_back(n),
        unknown_.push_back(n < 0 ? reduce_prod(shape(t)(slice(first, last))) : Tensor());
  }
  Tensor reshaped(const Tensor& x) const {
    if (std::none_of(unknown_.begin(), unknown_.end(),
                     [](const Tensor& t) { return t.defined(); })) {
      const TensorShape to(known_);
      return x.shape() == to ? x : reshape(x, to);
    }
    return reshape(x, tensor());
  }
  Tensor broadcast(const Tensor& x) const { return broadcast_to(x, tensor()); }

 private:
  Tensor tensor() const {
    std::vector<Tensor> sizes;
    bool all_known = true;
    for (std::size_t i = 0; i < known_.size(); ++i) {
      all_known = all_known && !unknown_[i].defined();
      sizes.push_back(unknown_[i].defined() ? unknown_[i] : constant(static_cast<int>(known_[i])));
    }
    return all_known ? to_tensor(TensorShape(known_)) : stack(sizes);
  }
  std::vector<std::int64_t> known_;
  std::vector<Tensor> unknown_;
};

Tensor ordered(const Labelled& x, const Labels& order) {
  if (x.labels == order) return x.t;
  std::vector<int> perm;
  for (int l : order) perm.push_back(place(x.labels, l));
  return transpose(x.t, perm);
}

// Labels that come twice become one: the diagonal of their axes.
void take_diagonals(Labelled& x) {
  for (std::size_t i = 0; i < x.labels.size(); ++i)
    for (std::size_t j = i + 1; j < x.labels.size(); ++j) {
      if (x.labels[i] != x.labels[j]) continue;
      const int label = x.labels[i];
      std::vector<int> perm;
      Labels rest;
      for (std::size_t k = 0; k < x.labels.size(); ++k)
        if (k != i && k != j) perm.push_back(static_cast<int>(k)), rest.push_back(x.labels[k]);
      perm.push_back(static_cast<int>(i)), perm.push_back(static_cast<int>(j));
      rest.push_back(label);
      x = {linalg::diag_part(transpose(x.t, perm)), rest};
      return take_diagonals(x);
    }
}

void sum_out(Labelled& x, const Labels& gone) {
  if (gone.empty()) return;
  std::vector<int> axes;
  Labels rest;
  for (std::size_t i = 0; i < x.labels.size(); ++i)
    if (has(gone, x.labels[i]))
      axes.push_back(static_cast<int>(i));
    else
      rest.push_back(x.labels[i]);
  x = {reduce_sum(x.t, axes), rest};
}

// The product of two, summed over what both have and the result has not.
Labelled multiply_pair(Labelled a, Labelled b, const Labels& wanted) {
  Labels batch, summed, free_a, free_b, only_a, only_b;
  for (int l : a.labels) {
    const bool keep = has(wanted, l), both = has(b.labels, l);
    if (both)
      (keep ? batch : summed).push_back(l);
    else
      (keep ? free_a : only_a).push_back(l);
  }
  for (int l : b.labels)
    if (!has(a.labels, l)) (has(wanted, l) ? free_b : only_b).push_back(l);
  sum_out(a, only_a);
  sum_out(b, only_b);

  const Labels labels = joined({&batch, &free_a, &free_b});
  const int nb = static_cast<int>(batch.size()), na = static_cast<int>(free_a.size()),
            nf = static_cast<int>(free_b.size());
  if (summed.empty()) {  // [batch, a, 1] * [batch, 1, b]
    const Tensor ta = ordered(a, joined({&batch, &free_a})),
                 tb = ordered(b, joined({&batch, &free_b}));
    Sizes sa, sb;
    for (int i = 0; i < nb + na; ++i) sa.add(ta, i);
    for (int i = 0; i < nf; ++i) sa.add(1);
    for (int i = 0; i < nb; ++i) sb.add(tb, i);
    for (int i = 0; i < na; ++i) sb.add(1);
    for (int i = nb; i < nb + nf; ++i) sb.add(tb, i);
    return {sa.reshaped(ta) * sb.reshaped(tb), labels};
  }
  // [batch, a, k] x [batch, k, b], or with one of them as it lies.
  const bool turn_a = a.labels == joined({&batch, &summed, &free_a}),
             turn_b = b.labels == joined({&batch, &free_b, &summed});
  const Tensor ta = turn_a ? a.t : ordered(a, joined({&batch, &free_a, &summed}));
  const Tensor tb = turn_b ? b.t : ordered(b, joined({&batch, &summed, &free_b}));
  const int ns = static_cast<int>(summed.size()), first_a = turn_a ? ns : na,
            first_b = turn_b ? nf : ns;
  auto matrix = [&](const Tensor& t, int first) {
    Sizes s;
    for (int i = 0; i < nb; ++i) s.add(t, i);
    s.add(t, nb, nb + first);
    s.add(t, nb + first, t.ndim());
    return s.reshaped(t);
  };
  const Tensor product = matmul(matrix(ta, first_a), matrix(tb, first_b),
                                {.transpose_a = turn_a, .transpose_b = turn_b});
  Sizes out;
  for (int i = 0; i < nb; ++i) out.add(product, i);
  const int at_a = nb + (turn_a ? ns : 0), at_b = nb + (turn_b ? 0 : ns);
  for (int i = 0; i < na; ++i) out.add(ta, at_a + i);
  for (int i = 0; i < nf; ++i) out.add(tb, at_b + i);
  return {out.reshaped(product), labels};
}

Tensor contract(std::vector<Labelled> list, const Labels& output) {
  for (Labelled& x : list) take_diagonals(x);
  Labelled all = list[0];
  for (std::size_t i = 1; i < list.size(); ++i) {
    Labels wanted = output;
    for (std::size_t k = i + 1; k < list.size(); ++k) wanted = joined({&wanted, &list[k].labels});
    all = multiply_pair(std::move(all), list[i], wanted);
  }
  Labels gone;
  for (int l : all.labels)
    if (!has(output, l)) gone.push_back(l);
  sum_out(all, gone);
  return ordered(all, output);
}

// ---- equations. A letter is its own label; the axes of "..." count from the
// right as kDots, kDots + 1, ..
constexpr int kDots = 256;

// The letters of one term; -1 stands for "...".
Labels read_term(std::string_view term, std::string_view equation) {
  Labels out;
  for (std::size_t i = 0; i < term.size(); ++i) {
    const char ch = term[i];
    if (ch == ' ') continue;
    if (term.substr(i, 3) == "...") {
      RILL_CHECK(!has(out, -1), invalid_argument,
                 "[einsum] \"...\" comes twice in a term of \"{}\"; expected once", equation);
      out.push_back(-1), i += 2;
      continue;
    }
    RILL_CHECK((ch >= 'a' && ch <= 'z') || (ch >= 'A' && ch <= 'Z'), invalid_argument,
               "[einsum] '{}' in \"{}\" is not a label; expected letters, \"...\", ',' and \"->\"",
               std::string(1, ch), equation);
    out.push_back(ch);
  }
  return out;
}
Labels with_dots(const Labels& term, int dots) {
  Labels out;
  for (int l : term) {
    if (l != -1)
      out.push_back(l);
    else
      for (int i = dots; i-- > 0;) out.push_back(kDots + i);
  }
  return out;
}

struct Equation {
  std::vector<Labels> terms;  // of the inputs
  Labels output;
  std::map<int, std::int64_t> sizes;  // by label; -1: not known
};

// The size of a label that has both; the axes of "..." broadcast.
std::int64_t merged(std::int64_t a, std::int64_t b, bool broadcasts) {
  if (!broadcasts) return std::max(a, b);
  const std::int64_t n = std::max(a, b);
  return n > 1 || std::min(a, b) >= 0 ? n : -1;
}

Equation read_equation(std::string_view equation, const std::vector<TensorShape>& shapes) {
  const std::size_t arrow = equation.find("->");
  std::string_view left = equation.substr(0, arrow);
  std::vector<Labels> terms;
  for (std::size_t comma; (comma = left.find(',')) != std::string_view::npos;
       left.remove_prefix(comma + 1))
    terms.push_back(read_term(left.substr(0, comma), equation));
  terms.push_back(read_term(left, equation));
  RILL_CHECK(terms.size() == shapes.size(), invalid_argument,
             "[einsum] \"{}\" has {} terms for {} tensors; expected one a tensor", equation,
             terms.size(), shapes.size());

  Equation out;
  std::map<int, int> times;
  int most_dots = 0;
  for (std::size_t i = 0; i < terms.size(); ++i) {
    const TensorShape& s = shapes[i];
    RILL_CHECK(s.has_rank(), unimplemented, "[einsum] the rank of tensor {} must be known", i);
    const int letters = static_cast<int>(terms[i].size()),
              dots = has(terms[i], -1) ? s.rank() - letters + 1 : 0;
    RILL_CHECK(dots >= 0 && (has(terms[i], -1) || letters == s.rank()), invalid_argument,
               "[einsum] tensor {} has shape {}, its term in \"{}\" has {} labels; expected {}", i,
               s, equation, letters - has(terms[i], -1),
               has(terms[i], -1) ? "no more than axes" : "one an axis");
    most_dots = std::max(most_dots, dots);
    out.terms.push_back(with_dots(terms[i], dots));
    for (std::size_t k = 0; k < out.terms[i].size(); ++k) {
      const int label = out.terms[i][k];
      ++times[label];
      const std::int64_t n = s.dim(static_cast<int>(k));
      std::int64_t& known = out.sizes.try_emplace(label, n).first->second;
      const bool broadcast = label >= kDots && (n == 1 || known == 1);
      RILL_CHECK(n < 0 || known < 0 || n == known || broadcast, invalid_argument,
                 "[einsum] label '{}' of \"{}\" has size {} in tensor {} of shape {} but {} "
                 "before; expected equal sizes",
                 label < kDots ? std::string(1, static_cast<char>(label)) : "...", equation, n, i,
                 s, known);
      known = merged(n, known, label >= kDots);
    }
  }

  if (arrow != std::string_view::npos) {
    const Labels term = read_term(equation.substr(arrow + 2), equation);
    RILL_CHECK(most_dots == 0 || has(term, -1), invalid_argument,
               "[einsum] the output of \"{}\" has no \"...\" for the {} axes that it stands for in "
               "the inputs",
               equation, most_dots);
    out.output = with_dots(term, most_dots);
    for (std::size_t i = 0; i < out.output.size(); ++i) {
      const std::string name(1, static_cast<char>(out.output[i]));
      RILL_CHECK(times.count(out.output[i]), invalid_argument,
                 "[einsum] label '{}' of the output of \"{}\" is in no input", name, equation);
      RILL_CHECK(place(out.output, out.output[i]) == static_cast<int>(i), invalid_argument,
                 "[einsum] label '{}' comes twice in the output of \"{}\"; expected once", name,
                 equation);
    }
  } else {
    out.output = with_dots({-1}, most_dots);
    for (auto [label, count] : times)
      if (count == 1 && label < kDots) out.output.push_back(label);
  }
  return out;
}

Tensor evaluate(std::string_view equation, const std::vector<Tensor>& inputs) {
  std::vector<TensorShape> shapes;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    RILL_CHECK(inputs[i].defined(), invalid_argument, "[einsum] tensor {} is undefined", i);
    shapes.push_back(inputs[i].shape());
  }
  const Equation e = read_equation(equation, shapes);
  std::vector<Labelled> list;
  for (std::size_t i = 0; i < inputs.size(); ++i) list.push_back({inputs[i], e.terms[i]});
  return contract(std::move(list), e.output);
}

// ---- the op, for graphs that come from elsewhere: the function itself becomes the ops that it
// is made of.
void einsum_shape(ShapeContext& c) {
  RILL_CHECK(c.num_inputs() == 1 || c.num_inputs() == 2, invalid_argument,
             "[einsum] got {} inputs; the op takes 1 or 2", c.num_inputs());
  std::vector<TensorShape> shapes;
  for (int i = 0; i < c.num_inputs(); ++i) {
    if (!c.input(i).has_rank()) return unknown_shape(c);
    shapes.push_back(c.input(i));
  }
  const Equation e = read_equation(c.string_attr("equation"), shapes);
  Dims out;
  for (int l : e.output) out.push_back(e.sizes.at(l));
  c.set_output(0, TensorShape(out));
}

// The inverse of take_diagonals: x has the labels of `term` once each, in their order.
Tensor put_diagonals(const Tensor& x, const Labels& term) {
  for (std::size_t i = 0; i < term.size(); ++i)
    for (std::size_t j = i + 1; j < term.size(); ++j) {
      if (term[i] != term[j]) continue;
      // Without the second of the pair, then its axis made two.
      Labels rest = term;
      rest.erase(rest.begin() + static_cast<std::ptrdiff_t>(j));
      const Tensor one = put_diagonals(x, rest);
      std::vector<int> last, back(term.size());
      for (int k = 0; k < static_cast<int>(rest.size()); ++k)
        if (k != static_cast<int>(i)) last.push_back(k);
      last.push_back(static_cast<int>(i));
      int next = 0;
      for (std::size_t k = 0; k < term.size(); ++k)
        if (k != i && k != j) back[k] = next++;
      back[i] = next, back[j] = next + 1;
      return transpose(linalg::diag(transpose(one, last)), back);
    }
  return x;
}

// By an input: the product of dy and the others, summed to the input's labels; the same along
// labels that the input alone has.
void einsum_grad(GradContext& g) {
  std::vector<TensorShape> shapes;
  for (int i = 0; i < g.num_inputs(); ++i) shapes.push_back(g.input_shape(i));
  const Equation e = read_equation(g.string_attr("equation"), shapes);
  for (int i = 0; i < g.num_inputs(); ++i) {
    if (!g.needs(i)) continue;
    const Labels& term = e.terms[static_cast<std::size_t>(i)];
    std::vector<Labelled> list{{g.dy(), e.output}};
    Labels others = e.output, once, kept;
    for (int k = 0; k < g.num_inputs(); ++k) {
      if (k == i) continue;
      const Labels& labels = e.terms[static_cast<std::size_t>(k)];
      list.push_back({conj(g.input(k)), labels});
      others = joined({&others, &labels});
    }
    for (int l : term) {
      if (has(once, l)) continue;
      once.push_back(l);
      if (has(others, l)) kept.push_back(l);
    }
    Tensor part = contract(std::move(list), kept);
    if (kept != once) {
      Sizes sizes;
      const Tensor narrow = part;
      for (std::size_t k = 0; k < once.size(); ++k) {
        if (has(kept, once[k]))
          sizes.add(narrow, place(kept, once[k]));
        else
          sizes.add(g.input(i), place(term, once[k])),
              part = expand_dims(part, static_cast<int>(k));
      }
      part = sizes.broadcast(part);
    }
    set_reduced(g, i, put_diagonals(part, term));
  }
}
[[maybe_unused]] const Op& einsum_op =
    OpBuilder("Einsum", "einsum")
        .input("inputs: N * T")
        .output("output: T")
        .attr("equation: string")
        .type("T", kNumericTypes)
        .doc(
            "The product of tensors with labelled axes, summed over what the output does not name.")
        .shape(einsum_shape)
        .gradient(einsum_grad, "inputs")
        .forward([](const AttrReader& a, std::span<const In> in, std::span<const TensorShape>,
                    std::span<Tensor> out) {
          const UnrecordedScope alone;
          std::vector<Tensor> inputs;
          for (const In& t : in) inputs.push_back(*t);
          out[0] = evaluate(a.string_attr("equation"), inputs);
        })
        .define();

}  // namespace

Tensor einsum(std::string_view equation, const TensorList& inputs) {
  return evaluate(equation, inputs.tensors());
}

Tensor tensordot(const Operand& a, const Operand& b, const TensordotAxes& axes) {
  const ArgPair p(a, b);
  const Tensor &x = p.first(), &y = p.second();
  RILL_CHECK(x.shape().has_rank() && y.shape().has_rank(), invalid_argument,
             "[tensordot] ranks must be known, got shapes {} and {}", x.shape(), y.shape());
  const int ra = x.ndim(), rb = y.ndim();
  Labels in_a = axes.a, in_b = axes.b;
  if (axes.n >= 0) {
    RILL_CHECK(axes.n <= ra && axes.n <= rb, invalid_argument,
               "[tensordot] axes is {}; a has rank {} and b rank {}", axes.n, ra, rb);
    for (int i = 0; i < axes.n; ++i) in_a.push_back(ra - axes.n + i), in_b.push_back(i);
  } else {
    RILL_CHECK(axes.n == TensordotAxes::kListed, invalid_argument,
               "[tensordot] axes is {}; expected 0 or more", axes.n);
  }
  RILL_CHECK(in_a.size() == in_b.size(), invalid_argument,
             "[tensordot] axes name {} axes of a and {} of b; expected as many", in_a.size(),
             in_b.size());
  Labels la, lb, out;
  for (int i = 0; i < ra; ++i) la.push_back(i);
  for (int i = 0; i < rb; ++i) lb.push_back(ra + i);
  Labels used_a, used_b;
  for (std::size_t i = 0; i < in_a.size(); ++i) {
    const int i_a = normalize_axis(in_a[i], ra, "tensordot"),
              i_b = normalize_axis(in_b[i], rb, "tensordot");
    RILL_CHECK(!has(used_a, i_a) && !has(used_b, i_b), invalid_argument,
               "[tensordot] axis {} of a or {} of b is named twice; expected once", i_a, i_b);
    const std::int64_t n = x.shape().dim(i_a), m = y.shape().dim(i_b);
    RILL_CHECK(n < 0 || m < 0 || n == m, invalid_argument,
               "[tensordot] axis {} of a {} has size {}, axis {} of b {} has size {}; expected "
               "equal sizes",
               i_a, x.shape(), n, i_b, y.shape(), m);
    used_a.push_back(i_a), used_b.push_back(i_b);
    lb[static_cast<std::size_t>(i_b)] = i_a;
  }
  for (int l : la)
    if (!has(lb, l)) out.push_back(l);
  for (int l : lb)
    if (!has(la, l)) out.push_back(l);
  return contract({{x, la}, {y, lb}}, out);
}

}  // namespace rill
