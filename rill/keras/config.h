#pragma once
#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "rill/core/operand.h"
#include "rill/core/shape.h"

namespace rill RILL_API {
namespace keras {

// A configuration: what JSON can hold. Layers describe themselves by it, files keep it, and
// from_config makes a layer of it again.
//
//   keras::Config get_config() const override {
//     auto c = Layer::get_config();
//     c.set("output_dim", output_dim);
//     return c;
//   }
//
// A dict keeps its keys in the order in which they were set.
class Config {
 public:
  enum class Kind : unsigned char { null, boolean, integer, number, text, list, dict };

  Config() = default;  // null
  Config(std::nullptr_t) {}
  template <class T>
  requires std::is_arithmetic_v<T> Config(T v) {
    if constexpr (std::is_same_v<T, bool>)
      kind_ = Kind::boolean, integer_ = v;
    else if constexpr (std::is_integral_v<T>)
      kind_ = Kind::integer, integer_ = static_cast<std::int64_t>(v);
    else
      kind_ = Kind::number, number_ = static_cast<double>(v);
  }
  template <StringLike S>
  Config(const S& text) : kind_(Kind::text), text_(std::string_view(text)) {}
  Config(const TensorShape& shape);  // a list, null where a size is unknown; null: unknown rank
  static Config list(std::vector<Config> items = {});
  static Config dict(std::initializer_list<std::pair<std::string_view, Config>> items = {});
  template <class T>
  static Config list_of(const std::vector<T>& items) {
    Config c = list();
    for (const T& i : items) c.push_back(Config(i));
    return c;
  }

  Kind kind() const { return kind_; }
  bool is_null() const { return kind_ == Kind::null; }
  bool is_list() const { return kind_ == Kind::list; }
  bool is_dict() const { return kind_ == Kind::dict; }
  bool is_text() const { return kind_ == Kind::text; }
  bool is_number() const { return kind_ == Kind::integer || kind_ == Kind::number; }

  // What it holds. InvalidArgument, which shows it, when it is of another kind.
  bool as_bool() const;
  std::int64_t as_int() const;
  double as_double() const;
  const std::string& as_string() const;
  TensorShape as_shape() const;               // of null: unknown rank
  std::vector<std::int64_t> as_ints() const;  // of a list, or of one number

  // Of a list or dict.
  std::size_t size() const { return items_.size(); }
  // Of a temporary, layer.get_config()["units"], they give a value that stays.
  const Config& operator[](std::size_t i) const&;  // OutOfRange
  const Config& operator[](int i) const& { return (*this)[static_cast<std::size_t>(i)]; }
  Config operator[](std::size_t i) && { return std::as_const(*this)[i]; }
  Config operator[](int i) && { return std::as_const(*this)[i]; }
  void push_back(Config item);
  const std::vector<Config>& items() const& { return items_; }
  std::vector<Config> items() && { return std::move(items_); }

  // Of a dict. An unknown key is NotFound, with the keys that there are.
  const Config& operator[](std::string_view key) const&;
  const Config& operator[](const char* key) const& { return (*this)[std::string_view(key)]; }
  Config operator[](std::string_view key) && { return std::as_const(*this)[key]; }
  Config operator[](const char* key) && { return std::as_const(*this)[key]; }
  bool contains(std::string_view key) const;
  // The value, or `otherwise` when there is none or it is null.
  bool get(std::string_view key, bool otherwise) const;
  std::int64_t get(std::string_view key, int otherwise) const;
  std::int64_t get(std::string_view key, std::int64_t otherwise) const;
  double get(std::string_view key, double otherwise) const;
  std::string get(std::string_view key, const char* otherwise) const;
  const Config& get(std::string_view key) const&;  // null when there is none
  Config get(std::string_view key) && { return std::as_const(*this).get(key); }
  void set(std::string_view key, Config value);
  void erase(std::string_view key);
  const std::vector<std::string>& keys() const& { return keys_; }
  std::vector<std::string> keys() && { return std::move(keys_); }

  // As text. `indent` below 0: on one line, as Python's json.dumps writes it.
  std::string to_json(int indent = -1) const;
  static Config from_json(std::string_view text);  // InvalidArgument with the place of the error
  std::string to_yaml() const;
  static Config from_yaml(std::string_view text);

  friend bool operator==(const Config& a, const Config& b);

 private:
  Kind kind_ = Kind::null;
  std::int64_t integer_ = 0;
  double number_ = 0;
  std::string text_;
  std::vector<Config> items_;      // of a list, or the values of a dict ...
  std::vector<std::string> keys_;  // ... under these keys
};
std::ostream& operator<<(std::ostream& os, const Config& c);

}  // namespace keras
}  // namespace RILL_API
