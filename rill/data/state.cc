#include <cstring>

#include "rill/base/check.h"
#include "rill/base/hash.h"
#include "rill/data/dataset_impl.h"

namespace rill::data {
namespace {

constexpr std::string_view kHeader = "RILLITR2";
constexpr int kMaxDepth = 64;
constexpr int kMaxRank = 254;

[[noreturn]] void damaged(const char* what) {
  RILL_FAIL(data_loss,
            "[Iterator.restore] the state is damaged: {}. Restore from bytes that save() gave, "
            "whole and unchanged",
            what);
}

std::string number_bytes(std::uint64_t v) {
  std::string s(8, '\0');
  for (int i = 0; i < 8; ++i) s[static_cast<std::size_t>(i)] = static_cast<char>(v >> 8 * i);
  return s;
}
std::uint64_t number_of(std::string_view s) {
  std::uint64_t v = 0;
  for (int i = 7; i >= 0; --i)
    v = v << 8 | static_cast<unsigned char>(s[static_cast<std::size_t>(i)]);
  return v;
}

}  // namespace

void StateWriter::put(std::int64_t v) { bytes_ += number_bytes(static_cast<std::uint64_t>(v)); }
void StateWriter::put(std::string_view s) {
  put(static_cast<std::int64_t>(s.size()));
  bytes_ += s;
}
void StateWriter::put(std::span<const std::int64_t> list) {
  put(static_cast<std::int64_t>(list.size()));
  for (std::int64_t v : list) put(v);
}
void StateWriter::put(const Tensor& given) {
  const Tensor t = to_host(given);
  RILL_CHECK(t.dtype() != resource && t.dtype() != variant, unimplemented,
             "[Iterator.save] a queue holds a {} tensor, which has no bytes to save", t.dtype());
  put(std::string_view(t.dtype().name()));
  put(t.shape().dims().size()
          ? std::span<const std::int64_t>(&t.shape().dims()[0], t.shape().size())
          : std::span<const std::int64_t>());
  if (t.dtype() == string) {
    for (const std::string& s : t.data<std::string>()) put(std::string_view(s));
  } else {
    const auto bytes = static_cast<std::size_t>(t.size()) * t.dtype().itemsize();
    if (bytes) bytes_.append(static_cast<const char*>(t.impl()->data), bytes);
  }
}
void StateWriter::put(const Nest& nest) {
  if (nest.is_tensor()) {
    if (const std::vector<Nest>* list = listed_elements(nest.as_tensor())) {
      put(std::int64_t{3});
      return put(*list);
    }
    put(std::int64_t{0});
    put(nest.as_tensor());
    return;
  }
  put(std::int64_t{nest.is_composite() ? 4 : nest.is_dict() ? 2 : 1});
  if (nest.is_composite()) put(nest.composite_kind());
  put(static_cast<std::int64_t>(nest.size()));
  for (std::size_t i = 0; i < nest.size(); ++i) {
    if (nest.is_dict()) put(std::string_view(nest.keys()[i]));
    put(nest.part(i));
  }
}
void StateWriter::put(const std::vector<Nest>& nests) {
  put(static_cast<std::int64_t>(nests.size()));
  for (const Nest& n : nests) put(n);
}
void StateWriter::stage(std::string_view name, const Settings& settings) {
  put(name);
  put(static_cast<std::int64_t>(settings.size()));
  for (const Setting& s : settings) put(s.value);
}
std::string StateWriter::finish() && {
  return std::string(kHeader) + bytes_ + number_bytes(fingerprint64(bytes_));
}

StateReader::StateReader(std::string_view state) {
  if (state.size() < kHeader.size() + 8 || state.substr(0, kHeader.size()) != kHeader)
    damaged("it does not begin as one");
  rest_ = state.substr(kHeader.size(), state.size() - kHeader.size() - 8);
  if (number_of(state.substr(state.size() - 8)) != fingerprint64(rest_))
    damaged("its checksum is wrong");
}
std::string_view StateReader::take(std::size_t n) {
  if (n > rest_.size()) damaged("it ends too early");
  const std::string_view s = rest_.substr(0, n);
  rest_.remove_prefix(n);
  return s;
}
std::int64_t StateReader::integer() { return static_cast<std::int64_t>(number_of(take(8))); }
std::int64_t StateReader::integer(std::int64_t least, std::int64_t most) {
  const std::int64_t v = integer();
  if (v < least || v > most) damaged("a number is out of its bounds");
  return v;
}
std::string_view StateReader::text() {
  return take(static_cast<std::size_t>(integer(0, INT64_MAX)));
}
std::vector<std::int64_t> StateReader::list() {
  const std::int64_t n = integer(0, static_cast<std::int64_t>(rest_.size() / 8));
  std::vector<std::int64_t> out(static_cast<std::size_t>(n));
  for (std::int64_t& v : out) v = integer();
  return out;
}
Tensor StateReader::tensor() {
  DType dtype;
  const std::string_view name = text();
  for (int c = 1; c < DType::kCount; ++c)
    if (name == DType(static_cast<DType::Code>(c)).name())
      dtype = DType(static_cast<DType::Code>(c));
  if (!dtype.defined() || dtype == resource || dtype == variant) damaged("a dtype is unknown");
  Dims dims;
  std::int64_t elements = 1;
  const std::vector<std::int64_t> sizes = list();
  if (sizes.size() > kMaxRank) damaged("a shape has too many dimensions");
  for (std::int64_t d : sizes) {
    if (d < 0 || __builtin_mul_overflow(elements, d, &elements)) damaged("a shape is impossible");
    dims.push_back(d);
  }
  // Every element takes room in what is left, so no size can ask for more memory.
  const std::size_t least = dtype == string ? 8 : dtype.itemsize();
  if (static_cast<std::uint64_t>(elements) > rest_.size() / least) damaged("it ends too early");
  const Tensor t = make_tensor(dtype, TensorShape(dims));
  if (dtype == string) {
    auto* s = mutable_data<std::string>(t);
    for (std::int64_t i = 0; i < elements; ++i) s[i] = text();
  } else if (elements) {
    const std::string_view bytes = take(static_cast<std::size_t>(elements) * dtype.itemsize());
    std::memcpy(t.impl()->data, bytes.data(), bytes.size());
  }
  return t;
}
Nest StateReader::nest(int depth) {
  if (depth > kMaxDepth) damaged("a structure is too deep");
  const std::int64_t kind = integer(0, 4);
  if (kind == 0) return Nest(tensor());
  const std::string composite(kind == 4 ? text() : std::string_view());
  if (kind == 4 && composite.empty()) damaged("a composite has no kind");
  const std::int64_t n = integer(0, static_cast<std::int64_t>(rest_.size() / 8));
  std::vector<std::pair<std::string, Nest>> named;
  std::vector<Nest> items;
  for (std::int64_t i = 0; i < n; ++i) {
    if (kind == 2) {
      std::string key(text());
      named.emplace_back(std::move(key), nest(depth + 1));
    } else {
      items.push_back(nest(depth + 1));
    }
  }
  if (kind == 3) return list_as_nest(std::move(items));
  if (kind == 4) return Nest::composite(composite, std::move(items));
  return kind == 2 ? Nest(std::move(named)) : Nest::make(std::move(items));
}
Nest StateReader::nest() { return nest(0); }
std::vector<Nest> StateReader::nests() {
  const std::int64_t n = integer(0, static_cast<std::int64_t>(rest_.size() / 8));
  std::vector<Nest> out;
  for (std::int64_t i = 0; i < n; ++i) out.push_back(nest());
  return out;
}
void StateReader::stage(std::string_view name, const Settings& settings) {
  const std::string_view saved = text();
  RILL_CHECK(saved == name, invalid_argument,
             "[Iterator.restore] the state was saved by another pipeline: it has a {} where this "
             "one has a {}. Build the same stages before restoring",
             saved, name);
  if (integer() != static_cast<std::int64_t>(settings.size())) damaged("a stage lacks its numbers");
  for (const Setting& s : settings) {
    const std::int64_t value = integer();
    RILL_CHECK(
        value == s.value, invalid_argument,
        "[Iterator.restore] the state was saved by another pipeline: its {} has {} {}, where "
        "this one has {}. Build the same stages with the same numbers before restoring",
        name, s.name, value, s.value);
  }
}
std::string_view StateReader::kind() {
  const std::string_view name = text();
  integer(0, 0);
  return name;
}
void StateReader::finish() const {
  if (!rest_.empty()) damaged("it continues after its end");
}

}  // namespace rill::data
