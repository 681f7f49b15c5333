#include "rill/io/hdf5.h"

#include <hdf5.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <mutex>

#include "rill/base/check.h"
#include "rill/core/tensor_impl.h"
#include "rill/io/hdf5/path_impl.h"

namespace rill::io {

namespace {

// The library is not made for threads, and prints its errors, in each thread, unless it is set to
// not to.
class Locked {
 public:
  Locked() : lock_(mutex()) {
    thread_local const bool silent = H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr) >= 0;
    static_cast<void>(silent);
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

// Attributes longer than this do not fit into the head of an object; Keras splits them.
constexpr std::size_t kLongestAttribute = 64512;

}  // namespace

class Hdf5Writer::Impl {
 public:
  Id file;
  // The file is in memory, so that only a lack of that makes a step fail.
  static void check(bool ok, const std::string& what) {
    RILL_CHECK(ok, resource_exhausted, "[hdf5] cannot write {}", what);
  }
  bool exists(const std::string& path) const {
    std::string at;
    for (const std::string& step : hdf5::steps_of(path)) {
      at += "/" + step;
      if (H5Lexists(file, at.c_str(), H5P_DEFAULT) <= 0) return false;
    }
    return true;
  }
  void add_group(const std::string& path) const {
    std::string at;
    for (const std::string& step : hdf5::steps_of(path)) {
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
