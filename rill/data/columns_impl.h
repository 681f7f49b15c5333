#pragma once
#include <cstring>
#include <vector>

#include "rill/core/tensor_impl.h"

namespace rill::data {

// Rows that are written one after the other, a scalar in each column, straight into the tensors of
// an element or of a batch.
class Columns {
 public:
  explicit Columns(std::vector<DType> dtypes)
      : dtypes_(std::move(dtypes)), tensors_(dtypes_.size()), data_(dtypes_.size()) {}
  std::size_t size() const { return dtypes_.size(); }
  DType dtype(std::size_t column) const { return dtypes_[column]; }

  // Room for one row, whose scalars are an element ...
  void begin_element() { begin(TensorShape::scalar(), 1); }
  // ... or for a batch, said to be of `rows`, which may be more than there will ever be.
  void begin_batch(std::int64_t rows) {
    const std::int64_t room = std::min<std::int64_t>(rows, 1024);
    begin(TensorShape(Dims{room}), room);
  }
  // The place of a value in the row that is being written. REQUIRES: T is the column's type.
  template <class T>
  T& at(std::size_t column) {
    return static_cast<T*>(data_[column])[rows_];
  }
  // The row is written. (Without this it is written over.)
  void end_row() {
    ++rows_;
    if (rows_ == room_) full_ = true;
  }
  // REQUIRES: before a row of a batch.
  void begin_row() {
    if (full_) grow();
  }
  std::int64_t rows() const { return rows_; }
  std::vector<Tensor> take() {
    if (!is_element_ && rows_ < room_) {
      for (Tensor& t : tensors_) t = shortened(t);
    }
    return std::exchange(tensors_, std::vector<Tensor>(dtypes_.size()));
  }

 private:
  void begin(const TensorShape& shape, std::int64_t room) {
    for (std::size_t i = 0; i < dtypes_.size(); ++i) {
      tensors_[i] = make_tensor(dtypes_[i], shape);
      data_[i] = tensors_[i].impl()->data;
    }
    is_element_ = !shape.rank();
    rows_ = 0;
    room_ = room;
    full_ = room == 0;
  }
  void grow() {
    const std::vector<Tensor> old = tensors_;
    const std::int64_t rows = rows_;
    begin(TensorShape(Dims{2 * room_}), 2 * room_);
    rows_ = rows;
    for (std::size_t i = 0; i < old.size(); ++i) move_rows(old[i], tensors_[i]);
  }
  void move_rows(const Tensor& from, const Tensor& to) const {
    if (from.dtype() == string) {
      for (std::int64_t r = 0; r < rows_; ++r)
        mutable_data<std::string>(to)[r] = std::move(mutable_data<std::string>(from)[r]);
    } else if (rows_ > 0) {
      std::memcpy(to.impl()->data, from.impl()->data,
                  static_cast<std::size_t>(rows_) * from.dtype().itemsize());
    }
  }
  Tensor shortened(const Tensor& t) const {
    const Tensor out = make_tensor(t.dtype(), TensorShape(Dims{rows_}));
    move_rows(t, out);
    return out;
  }

  std::vector<DType> dtypes_;
  std::vector<Tensor> tensors_;
  std::vector<void*> data_;
  std::int64_t rows_ = 0, room_ = 0;
  bool is_element_ = false, full_ = false;
};

}  // namespace rill::data
