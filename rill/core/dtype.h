#pragma once
#include <cstddef>
#include <cstdint>
#include <iosfwd>
#include <string>
#include <string_view>

#include "rill/base/api.h"

namespace rill RILL_API {

// The element type of a tensor: a closed set of values. A class, so that it
// prints as TensorFlow prints it (`<dtype: 'float32'>`) and no number turns
// into one.
class DType {
 public:
  enum class Code : std::uint8_t {
    invalid,
    float16,
    bfloat16,
    float32,
    float64,
    int8,
    int16,
    int32,
    int64,
    uint8,
    uint16,
    uint32,
    uint64,
    bool_,
    string,
    complex64,
    complex128,
    resource,
    variant
  };
  static constexpr int kCount = 19;  // number of codes, `invalid` included

  constexpr DType() = default;
  explicit constexpr DType(Code c) : code_(c) {}

  // The dtype called `name` ("float32", "bool", ...); InvalidArgument, with the
  // nearest known name, when there is none.
  static DType from_name(std::string_view name);

  constexpr Code code() const { return code_; }
  constexpr bool defined() const { return code_ != Code::invalid; }
  const char* name() const;      // "float32", "bool", "string", ...
  std::size_t itemsize() const;  // bytes of one element in a buffer; 0 when invalid

  constexpr bool is_floating() const { return code_ >= Code::float16 && code_ <= Code::float64; }
  constexpr bool is_complex() const {
    return code_ == Code::complex64 || code_ == Code::complex128;
  }
  constexpr bool is_integer() const { return code_ >= Code::int8 && code_ <= Code::uint64; }
  constexpr bool is_unsigned() const { return code_ >= Code::uint8 && code_ <= Code::uint64; }
  constexpr bool is_bool() const { return code_ == Code::bool_; }
  constexpr bool is_numeric() const { return is_floating() || is_integer() || is_complex(); }

  friend constexpr bool operator==(DType, DType) = default;

 private:
  Code code_ = Code::invalid;
};

inline constexpr DType float16{DType::Code::float16}, bfloat16{DType::Code::bfloat16},
    float32{DType::Code::float32}, float64{DType::Code::float64}, int8{DType::Code::int8},
    int16{DType::Code::int16}, int32{DType::Code::int32}, int64{DType::Code::int64},
    uint8{DType::Code::uint8}, uint16{DType::Code::uint16}, uint32{DType::Code::uint32},
    uint64{DType::Code::uint64}, bool_{DType::Code::bool_}, string{DType::Code::string},
    complex64{DType::Code::complex64}, complex128{DType::Code::complex128},
    resource{DType::Code::resource}, variant{DType::Code::variant};
inline constexpr DType boolean = bool_;  // "bool" is a word of C++

std::ostream& operator<<(std::ostream& os, DType dtype);
// In error messages a dtype reads float32.
void append_formatted(std::string& out, const DType& dtype, std::string_view spec);

}  // namespace RILL_API
