#pragma once
#include <algorithm>
#include <array>
#include <iosfwd>
#include <vector>

#include "rill/core/operand.h"
#include "rill/core/tensor.h"

namespace rill RILL_API {

// Rows `indices` of an otherwise zero tensor of `dense_shape`: values[i] is
// added to row indices[i]; an index may come more than once.
struct IndexedSlices {
  Tensor values, indices;
  TensorShape dense_shape;
};

class SharedSlices;
void retain(SharedSlices*) noexcept;
void release(SharedSlices*) noexcept;

// The sum of the rows as one dense tensor.
Tensor densify(const IndexedSlices& slices);

// The gradient of something: a Tensor, IndexedSlices (of gathers and
// embeddings), or none where target and source are not connected. It reads
// like a Tensor and becomes one where one is asked for; until then a sparse
// gradient stays sparse.
class Gradient {
 public:
  Gradient() = default;  // none
  Gradient(Tensor dense) : dense_(std::move(dense)) {}
  Gradient(IndexedSlices slices);

  bool defined() const { return dense_.defined() || slices_; }
  explicit operator bool() const { return defined(); }
  bool is_sparse() const { return slices_ && !dense_.defined(); }
  // REQUIRES: is_sparse()
  const IndexedSlices& slices() const;
  // The dense tensor; undefined when there is no gradient. Made once.
  const Tensor& tensor() const;

  TensorShape shape() const { return is_sparse() ? slices().dense_shape : tensor().shape(); }
  DType dtype() const { return is_sparse() ? slices().values.dtype() : tensor().dtype(); }
  std::int64_t size() const { return shape().num_elements(); }
  template <class T>
  T item() const {
    return tensor().template item<T>();
  }
  template <class T>
  std::vector<T> to_vector() const {
    return tensor().template to_vector<T>();
  }
  Tensor numpy() const { return tensor().numpy(); }

 private:
  mutable Tensor dense_;
  Ref<SharedSlices> slices_;  // two words in all: tapes hold many of these
};
std::ostream& operator<<(std::ostream& os, const Gradient& g);  // "None" where there is none
void append_formatted(std::string& out, const Gradient& g, std::string_view spec);

inline Operand::Operand(const Gradient& g, const char* file, int line)
    : kind_(Kind::tensor), line_(line), file_(file) {
  u_.p = &g.tensor();
}
inline TensorList::TensorList(const Gradient& t) : v_{t.tensor()} {}

// Gradients in the order of their sources; converts to tensors.
class Gradients : public std::vector<Gradient> {
 public:
  using std::vector<Gradient>::vector;
  Gradients(const std::vector<Tensor>& list) : std::vector<Gradient>(list.begin(), list.end()) {}
  operator std::vector<Tensor>() const;
  // auto [dw, db] = tape.gradient(loss, {w, b}).unpack<2>(); InvalidArgument unless there are N.
  template <std::size_t N>
  std::array<Gradient, N> unpack() const {
    require_size(N);
    std::array<Gradient, N> all;
    std::copy_n(begin(), N, all.begin());
    return all;
  }

 private:
  void require_size(std::size_t n) const;
};
std::ostream& operator<<(std::ostream& os, const Gradients& list);  // as Python prints a list

}  // namespace RILL_API
