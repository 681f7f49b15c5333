#pragma once
#include <string>
#include <vector>

#include "rill/core/dtype.h"
#include "rill/io/hdf5/object_impl.h"

// What elements are, and how many: datatypes and dataspaces.
namespace rill::io::hdf5 {

struct Type {
  enum class Kind : unsigned char { number, boolean, text, variable_text, other };
  Kind kind = Kind::other;
  std::uint64_t size = 0;  // of an element in the file; more than 0
  DType dtype;             // of numbers and booleans; undefined where there is no tensor for them
  bool big_endian = false;
  char no = 0, yes = 1;  // the values of a boolean
};
Type read_type(const File& file, const Message& m);

struct Space {
  std::vector<std::uint64_t> sizes, most;  // kNowhere: may grow without end
  bool null = false;                       // holds nothing at all, not even a scalar
  // DataLoss beyond 2^50.
  std::uint64_t count(const File& file) const;
};
Space read_space(const File& file, const Message& m);

// An attribute with its elements as the file has them.
struct AttributeValue {
  Type type;
  Space space;
  std::uint64_t place = 0;
  std::string bytes;
};
AttributeValue read_attribute(const File& file, const Message& m);

// The texts of an attribute. DataLoss where it holds something else.
std::vector<std::string> texts_of(const File& file, const AttributeValue& v,
                                  const std::string& where);

}  // namespace rill::io::hdf5
