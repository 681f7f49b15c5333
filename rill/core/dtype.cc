#include "rill/core/dtype.h"

#include <ostream>
#include <string>
#include <vector>

#include "rill/base/check.h"
#include "rill/base/nearest.h"

namespace rill {
namespace {

struct Row {
  const char* name;
  std::size_t itemsize;
};
constexpr Row kRows[DType::kCount] = {{"invalid", 0},
                                      {"float16", 2},
                                      {"bfloat16", 2},
                                      {"float32", 4},
                                      {"float64", 8},
                                      {"int8", 1},
                                      {"int16", 2},
                                      {"int32", 4},
                                      {"int64", 8},
                                      {"uint8", 1},
                                      {"uint16", 2},
                                      {"uint32", 4},
                                      {"uint64", 8},
                                      {"bool", 1},
                                      {"string", sizeof(std::string)},
                                      {"complex64", 8},
                                      {"complex128", 16},
                                      {"resource", sizeof(void*)},
                                      {"variant", sizeof(void*)}};

const Row& row(DType d) { return kRows[static_cast<std::size_t>(d.code())]; }

}  // namespace

const char* DType::name() const { return row(*this).name; }
std::size_t DType::itemsize() const { return row(*this).itemsize; }

DType DType::from_name(std::string_view name) {
  if (name == "half") return float16;
  if (name == "float") return float32;
  if (name == "double") return float64;
  std::vector<std::string> known;
  for (int i = 1; i < kCount; ++i) {
    if (name == kRows[i].name) return DType(static_cast<Code>(i));
    known.emplace_back(kRows[i].name);
  }
  RILL_FAIL(invalid_argument, "[dtype] no dtype is called \"{}\".{}", name,
            did_you_mean(name, known));
}

std::ostream& operator<<(std::ostream& os, DType dtype) {
  return os << "<dtype: '" << dtype.name() << "'>";
}

void append_formatted(std::string& out, const DType& dtype, std::string_view) {
  out += dtype.name();
}

}  // namespace rill
