// Keys and values of a lookup table in memory.
#include <cstring>

#include "rill/ops/lookup/table_impl.h"

namespace rill::lookup {

std::int64_t KeyRows::number(const Tensor& keys, std::int64_t i) const {
  return dtype_ == int32 ? host_data<std::int32_t>(keys)[i] : host_data<std::int64_t>(keys)[i];
}

std::int64_t KeyRows::find(const Tensor& keys, std::int64_t i) const {
  if (dtype_ == string) {
    const auto at = by_text_.find(host_data<std::string>(keys)[i]);
    return at == by_text_.end() ? -1 : static_cast<std::int64_t>(at->second);
  }
  const auto at = by_number_.find(number(keys, i));
  return at == by_number_.end() ? -1 : static_cast<std::int64_t>(at->second);
}

std::size_t KeyRows::add(const Tensor& keys, std::int64_t i) {
  if (dtype_ == string) {
    const std::string& key = host_data<std::string>(keys)[i];
    const auto [at, is_new] = by_text_.emplace(key, texts_.size());
    if (is_new) texts_.push_back(key);
    return at->second;
  }
  const std::int64_t key = number(keys, i);
  const auto [at, is_new] = by_number_.emplace(key, numbers_.size());
  if (is_new) numbers_.push_back(key);
  return at->second;
}

std::int64_t KeyRows::remove(const Tensor& keys, std::int64_t i) {
  const std::int64_t row = find(keys, i);
  if (row < 0) return row;
  const auto take = [&](auto& by_key, auto& list) {
    by_key.erase(list[static_cast<std::size_t>(row)]);
    if (static_cast<std::size_t>(row) + 1 < list.size()) {
      list[static_cast<std::size_t>(row)] = std::move(list.back());
      by_key[list[static_cast<std::size_t>(row)]] = static_cast<std::size_t>(row);
    }
    list.pop_back();
  };
  if (dtype_ == string)
    take(by_text_, texts_);
  else
    take(by_number_, numbers_);
  return row;
}

void KeyRows::clear() {
  by_text_.clear(), by_number_.clear();
  texts_.clear(), numbers_.clear();
}

Tensor KeyRows::list() const {
  const Tensor out = make_tensor(dtype_, TensorShape(Dims{static_cast<std::int64_t>(size())}));
  for (std::size_t i = 0; i < size(); ++i) {
    if (dtype_ == string)
      mutable_data<std::string>(out)[i] = texts_[i];
    else if (dtype_ == int32)
      mutable_data<std::int32_t>(out)[i] = static_cast<std::int32_t>(numbers_[i]);
    else
      mutable_data<std::int64_t>(out)[i] = numbers_[i];
  }
  return out;
}

ValueRows::ValueRows(DType dtype, TensorShape shape)
    : dtype_(dtype),
      shape_(std::move(shape)),
      elements_(shape_.num_elements()),
      bytes_(dtype == string ? 0 : static_cast<std::size_t>(elements_) * dtype.itemsize()) {}

std::size_t ValueRows::rows() const {
  if (elements_ == 0) return 0;
  return dtype_ == string ? texts_.size() / static_cast<std::size_t>(elements_)
                          : plain_.size() / bytes_;
}

void ValueRows::set(std::size_t row, const Tensor& values, std::int64_t i) {
  const auto n = static_cast<std::size_t>(elements_);
  if (dtype_ == string) {
    if (row == rows()) texts_.resize((row + 1) * n);
    for (std::size_t k = 0; k < n; ++k)
      texts_[row * n + k] = host_data<std::string>(values)[static_cast<std::size_t>(i) * n + k];
  } else if (bytes_ > 0) {
    if (row == rows()) plain_.resize((row + 1) * bytes_);
    std::memcpy(plain_.data() + row * bytes_,
                host_data<char>(values) + static_cast<std::size_t>(i) * bytes_, bytes_);
  }
}

bool ValueRows::equal(std::size_t row, const Tensor& values, std::int64_t i) const {
  const auto n = static_cast<std::size_t>(elements_);
  if (dtype_ == string) {
    for (std::size_t k = 0; k < n; ++k)
      if (texts_[row * n + k] !=
          host_data<std::string>(values)[static_cast<std::size_t>(i) * n + k])
        return false;
    return true;
  }
  return bytes_ == 0 ||
         std::memcmp(plain_.data() + row * bytes_,
                     host_data<char>(values) + static_cast<std::size_t>(i) * bytes_, bytes_) == 0;
}

void ValueRows::copy(std::size_t row, const Tensor& out, std::int64_t i) const {
  const auto n = static_cast<std::size_t>(elements_);
  if (dtype_ == string) {
    for (std::size_t k = 0; k < n; ++k)
      mutable_data<std::string>(out)[static_cast<std::size_t>(i) * n + k] = texts_[row * n + k];
  } else if (bytes_ > 0) {
    std::memcpy(mutable_data<char>(out) + static_cast<std::size_t>(i) * bytes_,
                plain_.data() + row * bytes_, bytes_);
  }
}

void ValueRows::move_last_to(std::size_t row) {
  if (elements_ == 0) return;
  const auto n = static_cast<std::size_t>(elements_);
  const std::size_t last = rows() - 1;
  if (dtype_ == string) {
    for (std::size_t k = 0; row < last && k < n; ++k)
      texts_[row * n + k] = std::move(texts_[last * n + k]);
    texts_.resize(last * n);
  } else {
    if (row < last)
      std::memcpy(plain_.data() + row * bytes_, plain_.data() + last * bytes_, bytes_);
    plain_.resize(last * bytes_);
  }
}

void ValueRows::clear() { texts_.clear(), plain_.clear(); }

Tensor ValueRows::list() const {
  Dims dims{static_cast<std::int64_t>(rows())};
  for (std::int64_t d : shape_.dims()) dims.push_back(d);
  const Tensor out = make_tensor(dtype_, TensorShape(dims));
  if (dtype_ == string)
    std::copy(texts_.begin(), texts_.end(), mutable_data<std::string>(out));
  else if (!plain_.empty())
    std::memcpy(mutable_data<char>(out), plain_.data(), plain_.size());
  return out;
}

}  // namespace rill::lookup
