#pragma once
#include <iosfwd>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "rill/base/api.h"

namespace rill RILL_API {
namespace keras {

// Numbers by name, in order: what an epoch, a batch or evaluate gives. An unknown name is
// NotFound, with the names that there are.
//
//   auto scores = model.evaluate(x, y);
//   scores["accuracy"];                        // or scores[1]
//   auto [loss, accuracy] = scores.unpack<2>();
class Logs {
 public:
  double operator[](std::string_view name) const;
  double operator[](int i) const;  // in the order of metrics_names
  bool contains(std::string_view name) const;
  void set(std::string_view name, double value);
  std::size_t size() const { return v_.size(); }
  bool empty() const { return v_.empty(); }
  using Items = std::vector<std::pair<std::string, double>>;
  const Items& items() const& { return v_; }
  Items items() && { return std::move(v_); }
  // for (const auto& [name, value] : logs)
  Items::const_iterator begin() const { return v_.begin(); }
  Items::const_iterator end() const { return v_.end(); }
  std::vector<std::string> keys() const;
  std::vector<double> values() const;
  template <std::size_t N>
  struct Values {
    double v[N];
    template <std::size_t I>
    double get() const {
      return v[I];
    }
  };
  template <std::size_t N>
  Values<N> unpack() const {
    require(N);
    Values<N> out;
    for (std::size_t i = 0; i < N; ++i) out.v[i] = v_[i].second;
    return out;
  }

 private:
  void require(std::size_t n) const;  // InvalidArgument unless there are so many
  std::vector<std::pair<std::string, double>> v_;
};
std::ostream& operator<<(std::ostream& os, const Logs& logs);  // [0.27, 0.92]

}  // namespace keras
}  // namespace RILL_API

template <std::size_t N>
struct std::tuple_size<rill::keras::Logs::Values<N>> : std::integral_constant<std::size_t, N> {};
template <std::size_t I, std::size_t N>
struct std::tuple_element<I, rill::keras::Logs::Values<N>> {
  using type = double;
};
