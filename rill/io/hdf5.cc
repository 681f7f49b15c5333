#include "rill/io/hdf5.h"

#include <hdf5.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <mutex>

#include "rill/base/check.h"
#include "rill/core/kernel.h"
#include "rill/core/tensor_impl.h"
#include "rill/io/file.h"

namespace rill::io {

namespace {

// The library is not made for threads, and prints its errors, in each thread, unless it is told
// not to.
class Locked {
 public:
  Locked() : lock_(mutex()) {
    thread_local const bool silent = H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr) >= 0;
    // A filter that a file asks for is never loaded as code.
    static const bool closed = H5PLset_loading_state(0) >= 0;
    static_cast<void>(silent), static_cast<void>(closed);
  }

 private:
  static std::mutex& mutex() {
    static auto* m = new std::mutex;
    return *m;
  }
  std::lock_guard<std::mutex> lock_;
};

// The library takes two files in memory of one name for the same file.
std::string name_in_memory() {
  static std::atomic<std::uint64_t> count{0};
  return "rill" + std::to_string(count.fetch_add(1));
}

// An identifier of the library, closed as its kind is.
class Id {
 public:
  Id() = default;
  Id(hid_t id, herr_t (*close)(hid_t)) : id_(id), close_(close) {}
  ~Id() { reset(); }
  Id(Id&& o) noexcept : id_(std::exchange(o.id_, -1)), close_(o.close_) {}
  Id& operator=(Id&& o) noexcept {
    reset();
    id_ = std::exchange(o.id_, -1);
    close_ = o.close_;
    return *this;
  }
  void reset() {
    if (id_ >= 0) close_(id_);
    id_ = -1;
  }
  bool ok() const { return id_ >= 0; }
  operator hid_t() const { return id_; }

 private:
  hid_t id_ = -1;
  herr_t (*close_)(hid_t) = nullptr;
};

std::vector<std::string> steps_of(const std::string& path) {
  std::vector<std::string> steps;
  for (std::size_t at = 0; at <= path.size();) {
    const std::size_t end = std::min(path.find('/', at), path.size());
    if (end > at) steps.push_back(path.substr(at, end - at));
    at = end + 1;
  }
  return steps;
}

// ---- dtypes
Id half_type() {
  Id t(H5Tcopy(H5T_IEEE_F32LE), H5Tclose);
  H5Tset_fields(t, 15, 10, 5, 0, 10);
  H5Tset_size(t, 2);
  H5Tset_ebias(t, 15);
  return t;
}
// A bool is what h5py makes of it: an enumeration of FALSE and TRUE.
Id bool_type() {
  Id t(H5Tenum_create(H5T_NATIVE_INT8), H5Tclose);
  const signed char no = 0, yes = 1;
  H5Tenum_insert(t, "FALSE", &no);
  H5Tenum_insert(t, "TRUE", &yes);
  return t;
}
Id copied(hid_t type) { return Id(H5Tcopy(type), H5Tclose); }

Id type_of(DType d) {
  if (d == float16) return half_type();
  if (d == float32) return copied(H5T_IEEE_F32LE);
  if (d == float64) return copied(H5T_IEEE_F64LE);
  if (d == int8) return copied(H5T_STD_I8LE);
  if (d == int16) return copied(H5T_STD_I16LE);
  if (d == int32) return copied(H5T_STD_I32LE);
  if (d == int64) return copied(H5T_STD_I64LE);
  if (d == uint8) return copied(H5T_STD_U8LE);
  if (d == uint16) return copied(H5T_STD_U16LE);
  if (d == uint32) return copied(H5T_STD_U32LE);
  if (d == uint64) return copied(H5T_STD_U64LE);
  if (d == bool_) return bool_type();
  return {};
}

DType dtype_of(hid_t type) {
  const std::size_t size = H5Tget_size(type);
  switch (H5Tget_class(type)) {
    case H5T_FLOAT:
      if (size == 8) return float64;
      if (size == 4) return float32;
      if (size == 2) {
        std::size_t sign = 0, exponent = 0, exponent_size = 0, mantissa = 0, mantissa_size = 0;
        H5Tget_fields(type, &sign, &exponent, &exponent_size, &mantissa, &mantissa_size);
        if (exponent_size == 5 && mantissa_size == 10) return float16;
      }
      return {};
    case H5T_INTEGER: {
      const bool has_sign = H5Tget_sign(type) == H5T_SGN_2;
      if (size == 1) return has_sign ? int8 : uint8;
      if (size == 2) return has_sign ? int16 : uint16;
      if (size == 4) return has_sign ? int32 : uint32;
      if (size == 8) return has_sign ? int64 : uint64;
      return {};
    }
    case H5T_ENUM:
      return size == 1 && H5Tget_nmembers(type) == 2 ? bool_ : DType();
    default:
      return {};
  }
}

// Attributes longer than this do not fit into the head of an object; Keras splits them.
constexpr std::size_t kLongestAttribute = 64512;

}  // namespace

bool is_hdf5(std::string_view b) { return b.substr(0, 8) == "\x89HDF\r\n\x1a\n"; }

// ---- reading
class Hdf5Reader::Impl {
 public:
  std::string name, bytes;
  std::uint64_t file_size = 0;
  Id file;

  [[noreturn]] void damaged(const std::string& where, const char* what) const {
    RILL_FAIL(data_loss, "[hdf5] {}: {} of \"{}\"", name, what, where);
  }

  // Whether a path leads to something in this file. A link that leaves the file is none of ours.
  bool exists(const std::string& path) const {
    std::string at;
    for (const std::string& step : steps_of(path)) {
      at += "/" + step;
      if (H5Lexists(file, at.c_str(), H5P_DEFAULT) <= 0) return false;
      H5L_info_t info;
      if (H5Lget_info(file, at.c_str(), &info, H5P_DEFAULT) < 0)
        damaged(at, "cannot read the link");
      RILL_CHECK(info.type == H5L_TYPE_HARD || info.type == H5L_TYPE_SOFT, unimplemented,
                 "[hdf5] {}: \"{}\" is a link to another file, which is not followed", name, at);
      if (H5Oexists_by_name(file, at.c_str(), H5P_DEFAULT) <= 0) return false;
    }
    return true;
  }
  Id open(const std::string& path) const {
    const std::string full = "/" + path;
    RILL_CHECK(exists(path), not_found, "[hdf5] {} has no \"{}\"", name, path);
    Id id(H5Oopen(file, full.c_str(), H5P_DEFAULT), H5Oclose);
    if (!id.ok()) damaged(path, "cannot open the object");
    return id;
  }
  bool is(const std::string& path, H5I_type_t kind) const {
    if (!exists(path)) return false;
    return H5Iget_type(open(path)) == kind;
  }

  bool has_attribute(const std::string& group, const std::string& attribute) const {
    return exists(group) && H5Aexists(open(group), attribute.c_str()) > 0;
  }

  std::vector<std::string> strings(const std::string& group, const std::string& attribute) const {
    const Id object = open(group);
    const std::string where = group + "@" + attribute;
    RILL_CHECK(H5Aexists(object, attribute.c_str()) > 0, not_found,
               "[hdf5] {}: \"{}\" has no attribute \"{}\"", name, group, attribute);
    const Id a(H5Aopen(object, attribute.c_str(), H5P_DEFAULT), H5Aclose);
    const Id type(H5Aget_type(a), H5Tclose), space(H5Aget_space(a), H5Sclose);
    if (!a.ok() || !type.ok() || !space.ok()) damaged(where, "cannot read the attribute");
    const hssize_t n = H5Sget_simple_extent_npoints(space);
    if (n < 0) damaged(where, "cannot read the size");
    if (n == 0) return {};  // Keras writes an empty list as an array of numbers
    RILL_CHECK(H5Tget_class(type) == H5T_STRING, data_loss,
               "[hdf5] {}: \"{}\" holds no text; expected text", name, where);
    const auto count = static_cast<std::uint64_t>(n);
    std::vector<std::string> out;
    if (H5Tis_variable_str(type) > 0) {
      // Each takes 16 bytes in the file.
      RILL_CHECK(count <= file_size / 16, data_loss,
                 "[hdf5] {}: \"{}\" claims {} texts in a file of {} bytes", name, where, count,
                 file_size);
      const Id memory = copied(H5T_C_S1);
      H5Tset_size(memory, H5T_VARIABLE);
      H5Tset_cset(memory, H5Tget_cset(type));
      std::vector<char*> pointers(count, nullptr);
      if (H5Aread(a, memory, pointers.data()) < 0) damaged(where, "cannot read the text");
      for (const char* p : pointers) out.emplace_back(p ? p : "");
      H5Dvlen_reclaim(memory, space, H5P_DEFAULT, pointers.data());
      return out;
    }
    const std::size_t each = H5Tget_size(type);
    RILL_CHECK(each > 0 && count <= file_size / each, data_loss,
               "[hdf5] {}: \"{}\" claims {} texts of {} bytes in a file of {} bytes", name, where,
               count, each, file_size);
    std::string raw(count * each, '\0');
    if (H5Aread(a, type, raw.data()) < 0) damaged(where, "cannot read the text");
    for (std::uint64_t i = 0; i < count; ++i) {
      std::string s = raw.substr(i * each, each);
      s.resize(std::min(s.find('\0'), s.size()));
      out.push_back(std::move(s));
    }
    return out;
  }

  // An array, with all that must be known before its elements are read.
  struct Array {
    Id id;
    DType dtype;
    TensorShape shape;
  };
  Array array(const std::string& path) const {
    Array a;
    a.id = open(path);
    RILL_CHECK(H5Iget_type(a.id) == H5I_DATASET, data_loss,
               "[hdf5] {}: \"{}\" is no array; expected one", name, path);
    const Id type(H5Dget_type(a.id), H5Tclose), space(H5Dget_space(a.id), H5Sclose),
        made(H5Dget_create_plist(a.id), H5Pclose);
    if (!type.ok() || !space.ok() || !made.ok()) damaged(path, "cannot read the head");
    a.dtype = dtype_of(type);
    RILL_CHECK(a.dtype.defined(), unimplemented,
               "[hdf5] {}: \"{}\" has elements of a kind for which there is no tensor", name, path);
    const int rank = H5Sget_simple_extent_ndims(space);
    if (rank < 0) damaged(path, "cannot read the shape");
    std::vector<hsize_t> sizes(static_cast<std::size_t>(rank) + 1);
    if (H5Sget_simple_extent_dims(space, sizes.data(), nullptr) < 0)
      damaged(path, "cannot read the shape");
    a.shape = TensorShape::scalar();
    std::uint64_t bytes_needed = H5Tget_size(type);
    bool too_large = rank > 32;
    for (int i = 0; i < rank; ++i) {
      const hsize_t n = sizes[static_cast<std::size_t>(i)];
      too_large = too_large || n > (std::uint64_t{1} << 50) ||
                  (n > 0 && bytes_needed > (std::uint64_t{1} << 50) / n);
      if (too_large) break;
      bytes_needed *= n;
      a.shape.push_back(static_cast<std::int64_t>(n));
    }
    const H5D_layout_t layout = H5Pget_layout(made);
    RILL_CHECK((layout == H5D_CONTIGUOUS && H5Pget_external_count(made) == 0) ||
                   layout == H5D_COMPACT || layout == H5D_CHUNKED,
               unimplemented, "[hdf5] {}: \"{}\" keeps its elements in another file", name, path);
    // Deflate makes at most 1032 bytes of one.
    const std::uint64_t most = layout == H5D_CHUNKED ? file_size * 1100 : file_size;
    RILL_CHECK(!too_large && bytes_needed <= most, data_loss,
               "[hdf5] {}: \"{}\" claims more elements than a file of {} bytes can hold", name,
               path, file_size);
    return a;
  }
};

Hdf5Reader::Hdf5Reader(const std::string& path) : impl_(std::make_unique<Impl>()) {
  {
    const InputFile file(path);  // errors of the system by their names
    impl_->file_size = file.size();
    char first[8] = {};
    const std::size_t n = file.read_some(0, first, 8);
    RILL_CHECK(is_hdf5({first, n}), data_loss, "[hdf5] {} is no HDF5 file", path);
  }
  const Locked locked;
  impl_->name = path;
  impl_->file = Id(H5Fopen(path.c_str(), H5F_ACC_RDONLY, H5P_DEFAULT), H5Fclose);
  RILL_CHECK(impl_->file.ok(), data_loss, "[hdf5] {} is damaged or cut short", path);
}
Hdf5Reader::Hdf5Reader(std::string bytes, std::string name) : impl_(std::make_unique<Impl>()) {
  RILL_CHECK(is_hdf5(bytes), data_loss, "[hdf5] {} is no HDF5 file", name);
  const Locked locked;
  impl_->file_size = bytes.size();
  impl_->name = std::move(name);
  const Id access(H5Pcreate(H5P_FILE_ACCESS), H5Pclose);
  H5Pset_fapl_core(access, 1 << 20, 0);
  H5Pset_file_image(access, bytes.data(), bytes.size());
  impl_->file = Id(H5Fopen(name_in_memory().c_str(), H5F_ACC_RDONLY, access), H5Fclose);
  RILL_CHECK(impl_->file.ok(), data_loss, "[hdf5] {} is damaged or cut short", impl_->name);
}
Hdf5Reader::~Hdf5Reader() {
  if (!impl_) return;
  const Locked locked;
  impl_->file.reset();
}
Hdf5Reader::Hdf5Reader(Hdf5Reader&&) noexcept = default;
const std::string& Hdf5Reader::name() const { return impl_->name; }

bool Hdf5Reader::has_group(const std::string& path) const {
  const Locked locked;
  return impl_->is(path, H5I_GROUP);
}
bool Hdf5Reader::has_array(const std::string& path) const {
  const Locked locked;
  return impl_->is(path, H5I_DATASET);
}
std::vector<std::string> Hdf5Reader::list(const std::string& group) const {
  const Locked locked;
  const Id g = impl_->open(group);
  std::vector<std::string> names;
  hsize_t at = 0;
  const herr_t ok = H5Literate(
      g, H5_INDEX_NAME, H5_ITER_INC, &at,
      [](hid_t, const char* name, const H5L_info_t*, void* to) -> herr_t {
        static_cast<std::vector<std::string>*>(to)->emplace_back(name);
        return 0;
      },
      &names);
  if (ok < 0) impl_->damaged(group, "cannot list the content");
  std::sort(names.begin(), names.end());
  return names;
}
bool Hdf5Reader::has_attribute(const std::string& group, const std::string& name) const {
  const Locked locked;
  return impl_->has_attribute(group, name);
}
std::string Hdf5Reader::text(const std::string& group, const std::string& name) const {
  const Locked locked;
  const std::vector<std::string> all = impl_->strings(group, name);
  RILL_CHECK(all.size() == 1, data_loss, "[hdf5] {}: \"{}@{}\" holds {} texts; expected one",
             impl_->name, group, name, all.size());
  return all[0];
}
bool Hdf5Reader::has_texts(const std::string& group, const std::string& name) const {
  const Locked locked;
  return impl_->has_attribute(group, name) || impl_->has_attribute(group, name + "0");
}
std::vector<std::string> Hdf5Reader::texts(const std::string& group,
                                           const std::string& name) const {
  const Locked locked;
  if (impl_->has_attribute(group, name)) return impl_->strings(group, name);
  std::vector<std::string> all;
  for (int i = 0; i == 0 || impl_->has_attribute(group, name + std::to_string(i)); ++i) {
    RILL_CHECK(impl_->has_attribute(group, name + std::to_string(i)), data_loss,
               "[hdf5] {}: \"{}\" has no attribute \"{}\"", impl_->name, group, name);
    for (std::string& s : impl_->strings(group, name + std::to_string(i)))
      all.push_back(std::move(s));
  }
  return all;
}
TensorShape Hdf5Reader::shape(const std::string& path) const {
  const Locked locked;
  return impl_->array(path).shape;
}
Tensor Hdf5Reader::read(const std::string& path) const {
  const Locked locked;
  const Impl::Array a = impl_->array(path);
  Tensor t = make_tensor(a.dtype, a.shape);
  if (t.size() > 0 &&
      H5Dread(a.id, type_of(a.dtype), H5S_ALL, H5S_ALL, H5P_DEFAULT, t.impl()->data) < 0)
    impl_->damaged(path, "cannot read the elements");
  return t;
}

// ---- writing
class Hdf5Writer::Impl {
 public:
  Id file;
  // The file is in memory, so that only a lack of that makes a step fail.
  static void check(bool ok, const std::string& what) {
    RILL_CHECK(ok, resource_exhausted, "[hdf5] cannot write {}", what);
  }
  bool exists(const std::string& path) const {
    std::string at;
    for (const std::string& step : steps_of(path)) {
      at += "/" + step;
      if (H5Lexists(file, at.c_str(), H5P_DEFAULT) <= 0) return false;
    }
    return true;
  }
  void add_group(const std::string& path) const {
    std::string at;
    for (const std::string& step : steps_of(path)) {
      at += "/" + step;
      if (H5Lexists(file, at.c_str(), H5P_DEFAULT) > 0) continue;
      const Id g(H5Gcreate2(file, at.c_str(), H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT), H5Gclose);
      check(g.ok(), at);
    }
  }
  void write_attribute(const std::string& group, const std::string& name, hid_t type, hid_t space,
                       const void* data) const {
    const Id object(H5Oopen(file, ("/" + group).c_str(), H5P_DEFAULT), H5Oclose);
    const Id a(H5Acreate2(object, name.c_str(), type, space, H5P_DEFAULT, H5P_DEFAULT), H5Aclose);
    check(a.ok() && (!data || H5Awrite(a, type, data) >= 0), name);
  }
};

Hdf5Writer::Hdf5Writer() : impl_(std::make_unique<Impl>()) {
  const Locked locked;
  const Id access(H5Pcreate(H5P_FILE_ACCESS), H5Pclose);
  H5Pset_fapl_core(access, 1 << 20, 0);
  impl_->file =
      Id(H5Fcreate(name_in_memory().c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, access), H5Fclose);
  Impl::check(impl_->file.ok(), "a file in memory");
}
Hdf5Writer::~Hdf5Writer() {
  const Locked locked;
  impl_->file.reset();
}
void Hdf5Writer::add_group(const std::string& path) {
  const Locked locked;
  impl_->add_group(path);
}
bool Hdf5Writer::contains(const std::string& path) const {
  const Locked locked;
  return impl_->exists(path);
}
void Hdf5Writer::write(const std::string& path, const Tensor& given) {
  const Tensor t = given.cpu();
  const Locked locked;
  const Id type = type_of(t.dtype());
  RILL_CHECK(type.ok(), unimplemented, "[hdf5] \"{}\" is {}, for which HDF5 has no form here", path,
             t.dtype());
  if (const auto slash = path.rfind('/'); slash != path.npos)
    impl_->add_group(path.substr(0, slash));
  std::vector<hsize_t> sizes;
  for (int i = 0; i < t.ndim(); ++i) sizes.push_back(static_cast<hsize_t>(t.shape().dim(i)));
  const Id space(
      sizes.empty() ? H5Screate(H5S_SCALAR) : H5Screate_simple(t.ndim(), sizes.data(), nullptr),
      H5Sclose);
  // Without the time, so that equal content makes equal bytes.
  const Id made(H5Pcreate(H5P_DATASET_CREATE), H5Pclose);
  H5Pset_obj_track_times(made, 0);
  const Id d(
      H5Dcreate2(impl_->file, ("/" + path).c_str(), type, space, H5P_DEFAULT, made, H5P_DEFAULT),
      H5Dclose);
  Impl::check(d.ok() && (t.size() == 0 ||
                         H5Dwrite(d, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, t.impl()->data) >= 0),
              path);
}
void Hdf5Writer::link(const std::string& path, const std::string& to) {
  const Locked locked;
  Impl::check(H5Lcreate_hard(impl_->file, to.c_str(), H5L_SAME_LOC, path.c_str(), H5P_DEFAULT,
                             H5P_DEFAULT) >= 0,
              path);
}
void Hdf5Writer::set_text(const std::string& group, const std::string& name,
                          std::string_view text) {
  const Locked locked;
  const Id type = copied(H5T_C_S1), space(H5Screate(H5S_SCALAR), H5Sclose);
  H5Tset_size(type, H5T_VARIABLE);
  H5Tset_cset(type, H5T_CSET_UTF8);
  const std::string ended(text);
  const char* p = ended.c_str();
  impl_->write_attribute(group, name, type, space, &p);
}
void Hdf5Writer::set_texts(const std::string& group, const std::string& name,
                           const std::vector<std::string>& texts) {
  const Locked locked;
  if (texts.empty()) {  // as h5py writes an empty list
    const hsize_t none = 0;
    const Id space(H5Screate_simple(1, &none, nullptr), H5Sclose);
    impl_->write_attribute(group, name, H5T_IEEE_F64LE, space, nullptr);
    return;
  }
  std::size_t each = 1;
  for (const std::string& s : texts) each = std::max(each, s.size());
  RILL_CHECK(each <= kLongestAttribute, invalid_argument,
             "[hdf5] a name in \"{}\" has {} letters; HDF5 takes {}", name, each,
             kLongestAttribute);
  // As many as fit into one attribute, in equal parts.
  std::size_t parts = 1;
  while ((texts.size() + parts - 1) / parts * each > kLongestAttribute) ++parts;
  const Id type = copied(H5T_C_S1);
  H5Tset_size(type, each);
  H5Tset_strpad(type, H5T_STR_NULLPAD);
  for (std::size_t p = 0, at = 0; p < parts; ++p) {
    const std::size_t n = texts.size() / parts + (p < texts.size() % parts ? 1 : 0);
    std::string raw(n * each, '\0');
    for (std::size_t i = 0; i < n; ++i) texts[at + i].copy(raw.data() + i * each, each);
    const hsize_t count = n;
    const Id space(H5Screate_simple(1, &count, nullptr), H5Sclose);
    impl_->write_attribute(group, parts == 1 ? name : name + std::to_string(p), type, space,
                           raw.data());
    at += n;
  }
}
std::string Hdf5Writer::finish() {
  const Locked locked;
  Impl::check(H5Fflush(impl_->file, H5F_SCOPE_GLOBAL) >= 0, "the file");
  const ssize_t size = H5Fget_file_image(impl_->file, nullptr, 0);
  Impl::check(size > 0, "the file");
  std::string bytes(static_cast<std::size_t>(size), '\0');
  Impl::check(H5Fget_file_image(impl_->file, bytes.data(), bytes.size()) == size, "the file");
  return bytes;
}

}  // namespace rill::io
