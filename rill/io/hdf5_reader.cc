#include <memory>
#include <mutex>
#include <unordered_map>

#include "rill/base/check.h"
#include "rill/core/kernel.h"
#include "rill/core/tensor_impl.h"
#include "rill/io/hdf5.h"
#include "rill/io/hdf5/array_impl.h"
#include "rill/io/hdf5/path_impl.h"

namespace rill::io {

using hdf5::Link;
using hdf5::Object;

class Hdf5Reader::Impl {
 public:
  explicit Impl(const std::string& path) : file(path) {}
  Impl(std::string bytes, std::string name) : file(std::move(bytes), std::move(name)) {}

  const hdf5::File file;
  std::mutex mutex;  // what is below, and what the file still allows

  // Null where a path leads to nothing. A link that leaves the file is an error.
  const Object* find(const std::string& path) {
    int soft_links = 0;
    return find_from(file.root(), path, soft_links);
  }
  const Object& open(const std::string& path) {
    const Object* o = find(path);
    RILL_CHECK(o, not_found, "[hdf5] {} has no \"{}\"", file.name(), path);
    return *o;
  }
  bool is(const std::string& path, Object::Kind kind) {
    const Object* o = find(path);
    return o && o->kind == kind;
  }

  bool has_attribute(const std::string& group, const std::string& attribute) {
    const Object* o = find(group);
    return o && attributes(*o).contains(attribute);
  }
  std::vector<std::string> texts(const std::string& group, const std::string& attribute) {
    const hdf5::Attributes& all = attributes(open(group));
    const auto found = all.find(attribute);
    RILL_CHECK(found != all.end(), not_found, "[hdf5] {}: \"{}\" has no attribute \"{}\"",
               file.name(), group, attribute);
    const hdf5::File::Allowance allowance(file);
    return texts_of(file, read_attribute(file, found->second), group + "@" + attribute);
  }
  hdf5::Array array(const std::string& path) {
    const Object& o = open(path);
    RILL_CHECK(o.kind == Object::Kind::array, data_loss,
               "[hdf5] {}: \"{}\" is not an array; expected one", file.name(), path);
    const hdf5::File::Allowance allowance(file);
    return read_array(file, o, path);
  }

 private:
  // Objects and their attributes are parsed once and kept. So the file's allowance holds for all
  // questions together, however many names lead to one object.
  const Object& object(std::uint64_t address) {
    auto& known = objects_[address];
    if (!known) known = std::make_unique<Object>(read_object(file, address));
    return *known;
  }
  const hdf5::Attributes& attributes(const Object& o) {
    auto& known = attributes_[o.address];
    if (!known) known = std::make_unique<hdf5::Attributes>(read_attributes(file, o));
    return *known;
  }

  // `soft_links` counts all that were followed, not only those within each other: paths of links
  // to paths of links multiply.
  const Object* find_from(std::uint64_t address, const std::string& path, int& soft_links) {
    constexpr int kMostSoftLinks = 64;
    const Object* at = &object(address);
    for (const std::string& step : hdf5::steps_of(path)) {
      if (at->kind != Object::Kind::group) return nullptr;
      const auto found = at->links.find(step);
      if (found == at->links.end()) return nullptr;
      const Link& link = found->second;
      RILL_CHECK(link.kind != Link::Kind::outside, unimplemented,
                 "[hdf5] {}: \"{}\" is a link to another file, which is not followed", file.name(),
                 step);
      if (link.kind == Link::Kind::hard) {
        at = &object(link.address);
        continue;
      }
      if (++soft_links > kMostSoftLinks)
        file.damaged(at->address, format("the links behind \"{}\" lead in a circle", step));
      const bool from_root = link.target.starts_with('/');
      at = find_from(from_root ? file.root() : at->address, link.target, soft_links);
      if (!at) return nullptr;
    }
    return at;
  }

  std::unordered_map<std::uint64_t, std::unique_ptr<Object>> objects_;
  std::unordered_map<std::uint64_t, std::unique_ptr<hdf5::Attributes>> attributes_;
};

Hdf5Reader::Hdf5Reader(const std::string& path) : impl_(std::make_unique<Impl>(path)) {}
Hdf5Reader::Hdf5Reader(std::string bytes, std::string name)
    : impl_(std::make_unique<Impl>(std::move(bytes), std::move(name))) {}
Hdf5Reader::~Hdf5Reader() = default;
Hdf5Reader::Hdf5Reader(Hdf5Reader&&) noexcept = default;
const std::string& Hdf5Reader::name() const { return impl_->file.name(); }

bool Hdf5Reader::has_group(const std::string& path) const {
  const std::lock_guard lock(impl_->mutex);
  return impl_->is(path, Object::Kind::group);
}
bool Hdf5Reader::has_array(const std::string& path) const {
  const std::lock_guard lock(impl_->mutex);
  return impl_->is(path, Object::Kind::array);
}
std::vector<std::string> Hdf5Reader::list(const std::string& group) const {
  const std::lock_guard lock(impl_->mutex);
  std::vector<std::string> names;
  for (const auto& [name, link] : impl_->open(group).links) names.push_back(name);
  return names;
}
bool Hdf5Reader::has_attribute(const std::string& group, const std::string& name) const {
  const std::lock_guard lock(impl_->mutex);
  return impl_->has_attribute(group, name);
}
std::string Hdf5Reader::text(const std::string& group, const std::string& name) const {
  const std::lock_guard lock(impl_->mutex);
  std::vector<std::string> all = impl_->texts(group, name);
  RILL_CHECK(all.size() == 1, data_loss, "[hdf5] {}: \"{}@{}\" holds {} texts; expected one",
             impl_->file.name(), group, name, all.size());
  return std::move(all[0]);
}
bool Hdf5Reader::has_texts(const std::string& group, const std::string& name) const {
  const std::lock_guard lock(impl_->mutex);
  return impl_->has_attribute(group, name) || impl_->has_attribute(group, name + "0");
}
std::vector<std::string> Hdf5Reader::texts(const std::string& group,
                                           const std::string& name) const {
  const std::lock_guard lock(impl_->mutex);
  if (impl_->has_attribute(group, name)) return impl_->texts(group, name);
  std::vector<std::string> all;
  for (int i = 0; i == 0 || impl_->has_attribute(group, name + std::to_string(i)); ++i) {
    RILL_CHECK(impl_->has_attribute(group, name + std::to_string(i)), data_loss,
               "[hdf5] {}: \"{}\" has no attribute \"{}\"", impl_->file.name(), group, name);
    for (std::string& s : impl_->texts(group, name + std::to_string(i)))
      all.push_back(std::move(s));
  }
  return all;
}
TensorShape Hdf5Reader::shape(const std::string& path) const {
  const std::lock_guard lock(impl_->mutex);
  return impl_->array(path).shape();
}
Tensor Hdf5Reader::read(const std::string& path) const {
  const std::lock_guard lock(impl_->mutex);
  const hdf5::Array a = impl_->array(path);
  Tensor t = make_tensor(a.type.dtype, a.shape());
  read_elements(impl_->file, a, static_cast<char*>(t.impl()->data));
  return t;
}

}  // namespace rill::io
