// Claims about the sizes of several tensors, which names tie together.
#include <algorithm>
#include <charconv>
#include <map>

#include "rill/ops/array_ops.h"
#include "rill/ops/debugging.h"
#include "rill/ops/math_ops.h"
#include "rill/ops/op_helpers.h"

namespace rill::debugging {
namespace {

bool is_rest(const SymbolicSize& s) { return s.name() == "..." || s.name() == "*"; }

// A tensor, and the entries that its last (with a rest) or all axes have.
struct Claimed {
  const Tensor* tensor;
  std::vector<SymbolicSize> sizes;
  bool rest;
  int axis(std::size_t i) const {
    return static_cast<int>(i) - (rest ? static_cast<int>(sizes.size()) : 0);
  }
  std::string describe(std::size_t i) const {
    return format("axis {} of the {} tensor of shape {}", axis(i), tensor->dtype(),
                  tensor->shape());
  }
};

// The size of an axis: known, or to be found out when the graph runs. A scalar has one of size 1.
struct Found {
  std::int64_t known = -1;
  Tensor later;
};
Found size_at(const Tensor& t, int axis) {
  if (t.shape().has_rank()) {
    if (t.ndim() == 0) return {.known = 1};
    if (const std::int64_t n = t.shape().dim(axis); n >= 0) return {.known = n};
    return {.later = shape(t)[axis]};
  }
  const Tensor sizes = shape(t);
  return {.later = where(equal(size(sizes), 0), 1, concat({constant({1}), sizes}, 0)[axis])};
}
Tensor as_tensor(const Found& f) { return f.known >= 0 ? to_tensor(f.known, int32) : f.later; }

Claimed read(const ShapeClaim& claim, const AssertOptions& o) {
  RILL_CHECK(claim.tensor.defined(), invalid_argument,
             "[assert_shapes] a tensor is undefined (an empty Tensor)");
  Claimed c{&claim.tensor, claim.shape, !claim.shape.empty() && is_rest(claim.shape[0])};
  if (c.rest) c.sizes.erase(c.sizes.begin());
  RILL_CHECK(std::ranges::none_of(c.sizes, is_rest), invalid_argument,
             "[assert_shapes] \"...\" or \"*\" may be the first entry of a shape only");
  const int n = static_cast<int>(c.sizes.size());
  if (n > 1 && c.rest)
    assert_rank_at_least(*c.tensor, n, o);
  else if (n > 1)
    assert_rank(*c.tensor, n, o);
  else if (!c.rest)
    assert_rank_in(*c.tensor, {0, 1}, o);
  return c;
}

}  // namespace

SymbolicSize SymbolicSize::named(std::string_view name) {
  std::int64_t n = 0;
  const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), n);
  if (!name.empty() && error == std::errc() && end == name.data() + name.size()) return n;
  SymbolicSize s(None);
  if (name != ".") s.name_ = name;
  return s;
}

void assert_shapes(const std::vector<ShapeClaim>& shapes, const AssertOptions& o) {
  std::vector<Claimed> all;
  for (const ShapeClaim& claim : shapes) all.push_back(read(claim, o));
  const std::string headline =
      "[assert_shapes]" + (o.message.empty() ? std::string() : " " + o.message);
  struct Meaning {
    Found size;
    std::string where;
  };
  std::map<std::string, Meaning> names;
  for (const Claimed& c : all) {
    for (std::size_t i = 0; i < c.sizes.size(); ++i) {
      const SymbolicSize& s = c.sizes[i];
      if (!s.size().known() && s.name().empty()) continue;
      const Found found = size_at(*c.tensor, c.axis(i));
      Meaning expected{{.known = s.size().known() ? s.size().value() : -1, .later = {}}, {}};
      if (!s.name().empty()) {
        const auto [at, is_new] = names.try_emplace(s.name(), Meaning{found, c.describe(i)});
        if (is_new) continue;
        expected = at->second;
      }
      const std::string why =
          s.name().empty() ? "" : format(" (\"{}\", by {})", s.name(), expected.where);
      if (found.known >= 0 && expected.size.known >= 0) {
        RILL_CHECK(found.known == expected.size.known, invalid_argument,
                   "{} {} has size {}; expected {}{}", headline, c.describe(i), found.known,
                   expected.size.known, why);
        continue;
      }
      const Tensor is = as_tensor(found), must_be = as_tensor(expected.size);
      Assert(equal(is, must_be),
             {constant(format("{} {} has size", headline, c.describe(i))), is,
              constant(format("expected{}", why)), must_be},
             o.summarize);
    }
  }
}

}  // namespace rill::debugging
