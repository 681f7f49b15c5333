#include "rill/io/npy.h"

#include <cstdlib>
#include <cstring>

#include "rill/base/check.h"
#include "rill/base/nearest.h"
#include "rill/core/tensor_impl.h"
#include "rill/io/file.h"
#include "rill/io/pickle_impl.h"
#include "rill/io/zip.h"
#include "rill/ops/array_ops.h"

namespace rill::io {

namespace {

struct Kind {
  const char* descr;  // without the byte order
  DType dtype;
};
const Kind kKinds[] = {
    {"f4", float32}, {"f8", float64}, {"f2", float16},   {"u1", uint8},       {"i1", int8},
    {"i2", int16},   {"u2", uint16},  {"i4", int32},     {"u4", uint32},      {"i8", int64},
    {"u8", uint64},  {"b1", bool_},   {"c8", complex64}, {"c16", complex128},
};

// The text behind "'key':" in the header's dict.
std::string_view value_of(std::string_view header, std::string_view key, std::string_view name) {
  const auto at = header.find(key);
  const auto colon = at == header.npos ? at : header.find(':', at);
  RILL_CHECK(colon != header.npos, data_loss, "[npy] {}: the header has no {}", name, key);
  std::string_view rest = header.substr(colon + 1);
  while (!rest.empty() && rest.front() == ' ') rest.remove_prefix(1);
  return rest;
}

struct Header {
  std::string_view descr;  // "<f4"
  Dims dims;
  std::size_t end = 0;  // where the elements begin
};
Header read_header(std::string_view bytes, std::string_view name) {
  RILL_CHECK(bytes.size() >= 10 && bytes.substr(0, 6) == "\x93NUMPY", data_loss,
             "[npy] {} is no .npy file: it does not begin with \\x93NUMPY", name);
  const int major = static_cast<unsigned char>(bytes[6]);
  RILL_CHECK(major >= 1 && major <= 3, unimplemented, "[npy] {} has format version {}", name,
             major);
  const auto byte = [&](std::size_t i) {
    return static_cast<std::size_t>(static_cast<unsigned char>(bytes[i]));
  };
  const std::size_t start = major == 1 ? 10 : 12;
  RILL_CHECK(bytes.size() >= start, data_loss, "[npy] {} ends in its header", name);
  const std::size_t length = major == 1 ? byte(8) | byte(9) << 8
                                        : byte(8) | byte(9) << 8 | byte(10) << 16 | byte(11) << 24;
  RILL_CHECK(length <= bytes.size() - start, data_loss, "[npy] {} ends in its header", name);
  const std::string_view header = bytes.substr(start, length);
  Header h;
  h.end = start + length;
  h.descr = value_of(header, "'descr'", name);
  RILL_CHECK(h.descr.size() > 3 && (h.descr[0] == '\'' || h.descr[0] == '"'), unimplemented,
             "[npy] {} holds records, not one array", name);
  h.descr = h.descr.substr(1, h.descr.find(h.descr[0], 1) - 1);
  RILL_CHECK(!h.descr.empty() && h.descr[0] != '>', unimplemented,
             "[npy] {} is big-endian ({}); only little-endian arrays are read", name, h.descr);
  RILL_CHECK(value_of(header, "'fortran_order'", name).substr(0, 5) == "False", unimplemented,
             "[npy] {} is in Fortran order; save it with numpy.ascontiguousarray", name);
  std::string_view list = value_of(header, "'shape'", name);
  list = list.substr(0, list.find(')'));
  for (std::size_t i = 0; i < list.size();) {
    if (list[i] < '0' || list[i] > '9') {
      ++i;
      continue;
    }
    std::int64_t n = 0;
    for (; i < list.size() && list[i] >= '0' && list[i] <= '9'; ++i) {
      RILL_CHECK(n < INT64_MAX / 20, data_loss, "[npy] {} has a size that is too large", name);
      n = n * 10 + (list[i] - '0');
    }
    h.dims.push_back(n);
  }
  return h;
}

}  // namespace

Tensor read_npy(std::string_view bytes, std::string_view name) {
  const Header h = read_header(bytes, name);
  DType dtype;
  for (const Kind& k : kKinds)
    if (h.descr.substr(h.descr[0] == '<' || h.descr[0] == '|' || h.descr[0] == '=' ? 1 : 0) ==
        k.descr)
      dtype = k.dtype;
  RILL_CHECK(dtype.defined(), unimplemented,
             "[npy] {} has dtype {}, for which there is no tensor{}", name, h.descr,
             h.descr.find('O') != h.descr.npos ? " (an array of Python objects)" : "");
  const std::int64_t elements = checked_num_elements(h.dims, "npy");
  const std::size_t rest = bytes.size() - h.end;
  RILL_CHECK(static_cast<std::uint64_t>(elements) <= rest / dtype.itemsize(), data_loss,
             "[npy] {} has {} bytes of elements; its shape needs {} of {} bytes each", name, rest,
             elements, dtype.itemsize());
  Tensor t = make_tensor(dtype, TensorShape(h.dims));
  if (elements > 0)
    std::memcpy(t.impl()->data, bytes.data() + h.end,
                static_cast<std::size_t>(elements) * dtype.itemsize());
  return t;
}

std::vector<std::vector<std::int64_t>> read_npy_lists(std::string_view bytes,
                                                      std::string_view name) {
  const Header h = read_header(bytes, name);
  RILL_CHECK(h.descr == "|O" || h.descr == "O", invalid_argument,
             "[npy] {} has dtype {}; expected Python objects (|O)", name, h.descr);
  RILL_CHECK(h.dims.size() == 1, unimplemented,
             "[npy] {} has {} axes of Python objects; expected 1", name, h.dims.size());
  const Pickle pickle(bytes.substr(h.end), std::string(name));
  const Pickle::Array& array = pickle.array_of(pickle.root());
  RILL_CHECK(array.shape.size() == 1 && array.shape[0] == h.dims[0], data_loss,
             "[npy] {}: the pickled array has another shape than the header says", name);
  const std::vector<Pickle::Value>& rows = pickle.items_of(array.data);
  RILL_CHECK(static_cast<std::int64_t>(rows.size()) == h.dims[0], data_loss,
             "[npy] {} has {} lists; its shape says {}", name, rows.size(), h.dims[0]);
  std::vector<std::vector<std::int64_t>> lists;
  std::size_t total = 0;
  for (const Pickle::Value& row : rows) {
    // One list may be in many places of a pickle; all of them together would fill the memory.
    total += pickle.items_of(row).size();
    RILL_CHECK(total <= bytes.size(), data_loss,
               "[npy] {} claims more numbers than it has bytes ({})", name, bytes.size());
    lists.push_back(pickle.ints_of(row));
  }
  return lists;
}

std::string write_npy(const Tensor& given) {
  const Tensor t = to_host(given);
  std::string descr;
  for (const Kind& k : kKinds)
    if (k.dtype == t.dtype()) descr = std::string(t.dtype().itemsize() == 1 ? "|" : "<") + k.descr;
  RILL_CHECK(!descr.empty(), invalid_argument, "[npy] NumPy has no dtype for {}", t.dtype());
  std::string shape = "(";
  for (int i = 0; i < t.ndim(); ++i)
    shape += std::to_string(t.shape().dim(i)) + (t.ndim() == 1      ? ","
                                                 : i + 1 < t.ndim() ? ", "
                                                                    : "");
  std::string header =
      "{'descr': '" + descr + "', 'fortran_order': False, 'shape': " + shape + "), }";
  // The elements begin at a multiple of 64.
  while ((10 + header.size() + 1) % 64 != 0) header += ' ';
  header += '\n';
  std::string out = "\x93NUMPY";
  out += '\x01';
  out += '\0';
  out += static_cast<char>(header.size() & 0xff);
  out += static_cast<char>(header.size() >> 8);
  out += header;
  out.append(static_cast<const char*>(t.impl()->data),
             static_cast<std::size_t>(t.size()) * t.dtype().itemsize());
  return out;
}

// "~/x" is x in the user's folder.
static std::string expanded(const std::string& path) {
  const char* const home = std::getenv("HOME");
  return home && path.starts_with("~/") ? join_path(home, path.substr(2)) : path;
}

Tensor load_npy(const std::string& path) { return read_npy(file_contents(expanded(path)), path); }
void save_npy(const std::string& path, const Tensor& t) {
  AtomicFile file(path);
  file.append(write_npy(t));
  file.commit();
}
std::vector<std::string> Arrays::files() const {
  std::vector<std::string> names;
  for (const auto& [name, array] : *this) names.push_back(name);
  return names;
}
Tensor Arrays::by_name(std::string_view wanted) const {
  for (const auto& [name, array] : *this)
    if (name == wanted) return array;
  RILL_FAIL(not_found, "[load_npz] there is no array \"{}\" in the file.{}", wanted,
            did_you_mean(wanted, files()));
}
Arrays load_npz(const std::string& path) {
  const ZipReader zip = ZipReader::open(expanded(path));
  Arrays arrays;
  for (const std::string& name : zip.names()) {
    const bool npy = name.size() > 4 && name.ends_with(".npy");
    arrays.emplace_back(npy ? name.substr(0, name.size() - 4) : name,
                        read_npy(zip.read(name), path + ":" + name));
  }
  return arrays;
}
void save_npz(const std::string& path, const std::vector<std::pair<std::string, Tensor>>& arrays,
              bool compressed) {
  ZipWriter zip;
  for (const auto& [name, t] : arrays) zip.add(name + ".npy", write_npy(t), compressed);
  AtomicFile file(path);
  file.append(zip.finish());
  file.commit();
}

}  // namespace rill::io
