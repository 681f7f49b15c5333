// Ragged tensors written as lists of lists.
#include <algorithm>
#include <initializer_list>

#include "rill/base/check.h"
#include "rill/core/tensor_impl.h"
#include "rill/ops/array_ops.h"
#include "rill/ops/ragged/ragged_impl.h"

namespace rill::ragged {
namespace {

constexpr const char* kTag = "ragged.constant";

bool is_list(const Operand& x) {
  using Kind = Operand::Kind;
  return x.kind() == Kind::list || x.kind() == Kind::array || x.kind() == Kind::shape;
}
// Axes within, of a leaf that is no braced list: a vector has one, a tensor its own.
int leaf_rank(const Operand& x) {
  if (x.kind() == Operand::Kind::tensor) return x.tensor().ndim();
  return is_list(x) ? 1 : 0;
}

// The depth of the elements, and of the deepest empty list.
struct Depths {
  int elements = -1, lists = 0;
};
void find_depths(const Operand& x, int depth, Depths& out) {
  if (x.kind() != Operand::Kind::list) {
    const int at = depth + leaf_rank(x);
    RILL_CHECK(out.elements < 0 || out.elements == at, invalid_argument,
               "[{}] elements stand at depths {} and {}; expected one depth", kTag, out.elements,
               at);
    out.elements = at;
    return;
  }
  out.lists = std::max(out.lists, depth + 1);
  for (const Operand& item : x) find_depths(item, depth + 1, out);
}

class Reader {
 public:
  Reader(int ragged_rank, DType dtype)
      : splits_(static_cast<std::size_t>(ragged_rank), {0}), dtype_(dtype) {}

  // A list at this depth, whose parent counts it.
  void read(const Operand& list, std::size_t depth) {
    if (depth == splits_.size()) {
      if (size_of(list) > 0) rows_.push_back(&list);
      count_ += size_of(list);
      return;
    }
    RILL_CHECK(list.kind() == Operand::Kind::list, invalid_argument,
               "[{}] an element stands where a list is expected, at depth {}", kTag, depth);
    for (const Operand& item : list) {
      read(item, depth + 1);
      const std::size_t below = depth + 1;
      splits_[depth].push_back(
          below == splits_.size() ? count_ : static_cast<std::int64_t>(splits_[below].size()) - 1);
    }
  }

  Tensor flat_values(int inner_rank) const {
    std::vector<Tensor> parts;
    for (const Operand* row : rows_) parts.push_back(to_tensor(*row, dtype_));
    if (parts.empty()) {
      Dims dims(static_cast<std::size_t>(inner_rank) + 1, 0);
      return zeros(TensorShape(dims), dtype_.defined() ? dtype_ : DType(float32));
    }
    if (const DType common = common_dtype(parts); common.defined())
      for (std::size_t i = 0; i < parts.size(); ++i)
        if (parts[i].dtype() != common) parts[i] = to_tensor(*rows_[i], common);
    return parts.size() == 1 ? parts[0] : concat(parts, 0);
  }
  const std::vector<std::vector<std::int64_t>>& splits() const { return splits_; }

 private:
  static std::int64_t size_of(const Operand& x) {
    if (x.kind() == Operand::Kind::tensor) return x.tensor().shape().dim(0);
    RILL_CHECK(is_list(x), invalid_argument, "[{}] an element stands where a list is expected",
               kTag);
    return static_cast<std::int64_t>(x.size());
  }
  // Rows of numbers may differ: 1 beside 2.5 is a float.
  static DType common_dtype(const std::vector<Tensor>& parts) {
    DType widest = parts[0].dtype();
    for (const Tensor& t : parts) {
      if (t.dtype() == widest) continue;
      if (t.dtype().is_floating() && widest.is_integer()) widest = t.dtype();
      if (t.dtype() == int64 && widest == int32) widest = int64;
    }
    return widest;
  }

  std::vector<std::vector<std::int64_t>> splits_;
  std::vector<const Operand*> rows_;
  std::int64_t count_ = 0;
  DType dtype_;
};

}  // namespace

RaggedTensor constant(const Operand& pylist, const ConstantOptions& options) {
  RILL_CHECK(pylist.kind() == Operand::Kind::list, invalid_argument,
             "[{}] expected a list of lists, as {{{{3, 1}}, {{}}, {{5}}}}", kTag);
  Depths depths;
  find_depths(pylist, 0, depths);
  RILL_CHECK(depths.elements < 0 || depths.lists <= depths.elements, invalid_argument,
             "[{}] elements stand at depth {}, but an empty list at depth {}; expected lists of "
             "elements at one depth",
             kTag, depths.elements, depths.lists);
  const int depth = depths.elements < 0 ? depths.lists : depths.elements;
  RILL_CHECK(depth >= 2, invalid_argument,
             "[{}] a single list has no rows; use tf::constant, or write a list of lists", kTag);
  const int ragged_rank = options.ragged_rank < 0 ? depth - 1 : options.ragged_rank;
  RILL_CHECK(ragged_rank > 0 && ragged_rank < depth, invalid_argument,
             "[{}] ragged_rank is {} for lists of depth {}; expected 1 to {}", kTag, ragged_rank,
             depth, depth - 1);
  Reader reader(ragged_rank, options.dtype);
  reader.read(pylist, 0);
  std::vector<Tensor> splits;
  for (const std::vector<std::int64_t>& s : reader.splits())
    splits.push_back(rill::cast(to_tensor(s), options.row_splits_dtype));
  return RaggedTensor::from_nested_row_splits(reader.flat_values(depth - 1 - ragged_rank), splits,
                                              false);
}
RaggedTensor constant(std::initializer_list<Operand> pylist, const ConstantOptions& options) {
  return constant(Operand(pylist), options);
}
RaggedTensor constant(const Operand& pylist, DType dtype) {
  return constant(pylist, ConstantOptions{.dtype = dtype});
}
RaggedTensor constant(std::initializer_list<Operand> pylist, DType dtype) {
  return constant(Operand(pylist), ConstantOptions{.dtype = dtype});
}

}  // namespace rill::ragged
