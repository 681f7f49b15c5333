#pragma once
#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace rill::io {

// The values of a Python pickle of protocol 2 to 4: None, bools, whole numbers, floats, texts,
// bytes, lists, tuples, dicts and arrays of NumPy. A pickle is a program for a small machine, which
// may name any function to be called; here it may name those that make an array, and they are not
// called but understood. Any other instruction or name is Unimplemented, damage is DataLoss, both
// with the place.
class Pickle {
 public:
  enum class Kind : std::uint8_t {
    none,
    boolean,
    integer,
    number,
    text,
    bytes,
    list,
    tuple,
    dict,
    array,
    dtype,
    function,
    mark
  };
  // Of a list or similar a number in a table of the pickle: values may be shared, and a list may
  // even hold itself.
  struct Value {
    Kind kind = Kind::none;
    union {
      std::int64_t integer = 0;
      double number;
      std::uint32_t index;
    };
  };
  struct Array {
    std::vector<std::int64_t> shape;
    std::string dtype;  // "u1"; "O" of objects
    Value data;         // a list for objects, else bytes
  };

  // `bytes` must outlive the pickle.
  Pickle(std::string_view bytes, std::string name);

  Value root() const { return root_; }
  // What a value holds. DataLoss when it is of another kind.
  std::string_view text_of(const Value& v) const;            // of text or bytes
  const std::vector<Value>& items_of(const Value& v) const;  // of a list or tuple
  Value at(const Value& dict, std::string_view key) const;   // text or bytes are the key
  const Array& array_of(const Value& v) const;
  std::vector<std::int64_t> ints_of(const Value& list) const;

 private:
  enum class Function : std::uint32_t { reconstruct, ndarray, dtype, encode };
  struct DTypeState {
    std::string name;
    char order = '|';
  };

  [[noreturn]] void damaged(std::string_view what) const;
  std::uint64_t number(int bytes);
  std::string_view take(std::uint64_t n);
  std::string_view line();
  void push(Kind kind, std::int64_t v = 0);
  void push_text(Kind kind, std::string_view s);
  Value pop();
  std::vector<Value> pop_to_mark();
  std::vector<Value>& list_on_top(Kind kind);
  void push_items(Kind kind, std::vector<Value> items);
  void push_function(std::string_view module, std::string_view name);
  void reduce();
  void build();
  void run();

  std::string_view bytes_;
  std::string name_;
  std::size_t at_ = 0, begin_ = 0;  // of the instruction under way
  Value root_;
  std::vector<Value> stack_;
  std::unordered_map<std::uint32_t, Value> memo_;
  std::vector<std::string_view> texts_;
  std::deque<std::string> made_;  // texts that are not in the bytes as they are
  std::size_t made_bytes_ = 0;
  std::vector<std::vector<Value>> items_;
  std::vector<Array> arrays_;
  std::vector<DTypeState> dtypes_;
};

}  // namespace rill::io
