#pragma once
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "rill/core/nest.h"

// The bytes of a saved iterator: numbers of eight bytes, low byte first, with a
// checksum over all of it.
namespace rill::data {

// A number that a stage was made with, and that its elements depend on: the size of a batch.
struct Setting {
  const char* name;
  std::int64_t value;
};
using Settings = std::vector<Setting>;

class StateWriter {
 public:
  void put(std::int64_t v);
  void put(std::string_view s);
  void put(std::span<const std::int64_t> list);
  void put(const std::vector<std::int64_t>& list) { put(std::span(list)); }
  void put(const Nest& nest);
  void put(const std::vector<Nest>& nests);
  void stage(std::string_view name, const Settings& settings = {});  // what follows is its own
  std::string finish() &&;                                           // with header and checksum

 private:
  void put(const Tensor& t);
  std::string bytes_;
};

// DataLoss for bytes that are not what a writer writes.
class StateReader {
 public:
  explicit StateReader(std::string_view state);  // checks header and checksum
  std::int64_t integer();
  std::int64_t integer(std::int64_t least, std::int64_t most);  // in these bounds
  bool boolean() { return integer(0, 1) != 0; }
  std::string_view text();
  std::vector<std::int64_t> list();
  Nest nest();
  std::vector<Nest> nests();
  // InvalidArgument when another stage wrote it, or one of other settings.
  void stage(std::string_view name, const Settings& settings = {});
  std::string_view kind();  // the name of a stage without settings, whichever it is
  void finish() const;      // all is read

 private:
  std::string_view take(std::size_t n);
  Tensor tensor();
  Nest nest(int depth);
  std::string_view rest_;
};

}  // namespace rill::data
