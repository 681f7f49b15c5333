#include "rill/saving/tensor_bundle.h"

#include <algorithm>
#include <cstring>
#include <map>

#include "rill/base/check.h"
#include "rill/base/nearest.h"
#include "rill/core/tensor_impl.h"
#include "rill/graph/graph_def/quiet_protobuf_impl.h"
#include "rill/graph/graph_def/tensor_proto_impl.h"
#include "rill/io/coding.h"
#include "rill/io/crc32c.h"
#include "rill/io/file.h"
#include "rill/io/sorted_table.h"
#include "rill/saving/ordered_code_impl.h"
#include "rill_proto/checkpoint.pb.h"

namespace rill {
namespace {

constexpr int kVersion = 1;  // of the format, which we write and read

// Lengths take part in the checksum by their four bytes (eight where four do not do), not
// as the varints that the file holds.
std::uint32_t extend_by_length(std::uint32_t crc, std::uint64_t n) {
  std::string bytes;
  if (n <= 0xffffffffu)
    io::put_fixed(bytes, static_cast<std::uint32_t>(n));
  else
    io::put_fixed(bytes, n);
  return io::crc32c(bytes, crc);
}

std::string_view elements(const Tensor& t) {
  return {static_cast<const char*>(t.impl()->data),
          static_cast<std::size_t>(t.size()) * t.dtype().itemsize()};
}

std::string serialize(const google::protobuf::MessageLite& m) { return m.SerializeAsString(); }

// In place: the bytes of each number the other way round.
void swap_bytes(char* p, std::size_t bytes, std::size_t width) {
  if (width < 2) return;
  for (std::size_t i = 0; i + width <= bytes; i += width) std::reverse(p + i, p + i + width);
}

}  // namespace

std::string bundle_index_path(const std::string& prefix) { return prefix + ".index"; }
std::string bundle_data_path(const std::string& prefix, int shard, int shards) {
  return format("{}.data-{:05d}-of-{:05d}", prefix, shard, shards);
}

struct BundleWriter::State {
  explicit State(const std::string& p)
      : prefix(p), data((io::create_folders(io::folder_of(p)), bundle_data_path(p, 0, 1))) {}
  std::string prefix;
  io::AtomicFile data;
  std::map<std::string, std::string> entries;
};

BundleWriter::BundleWriter(const std::string& prefix) : state_(new State(prefix)) {}
BundleWriter::~BundleWriter() = default;

void BundleWriter::add(const std::string& key, const Tensor& value) {
  State& s = *state_;
  RILL_CHECK(!key.empty() && !s.entries.contains(key), invalid_argument,
             "[checkpoint] {} to be saved in \"{}\"; expected a name a tensor",
             key.empty() ? std::string("a tensor without a name is")
                         : format("two tensors called \"{}\" are", key),
             s.prefix);
  const Tensor t = to_host(value);
  RILL_CHECK(t.dtype() != resource && t.dtype() != variant, unimplemented,
             "[checkpoint] \"{}\" is a tensor of dtype {}, which has no bytes to save", key,
             t.dtype());
  proto::BundleEntryProto entry;
  entry.set_dtype(to_proto(t.dtype()));
  to_proto(t.shape(), entry.mutable_shape());
  entry.set_offset(static_cast<std::int64_t>(s.data.size()));
  std::uint32_t crc = 0;
  if (t.dtype() == string) {
    const auto* text = host_data<std::string>(t);
    std::string lengths;
    for (std::int64_t i = 0; i < t.size(); ++i) {
      io::put_varint(lengths, text[i].size());
      crc = extend_by_length(crc, text[i].size());
    }
    std::string check;
    io::put_fixed(check, io::mask_crc(crc));
    crc = io::crc32c(check, crc);
    s.data.append(lengths + check);
    for (std::int64_t i = 0; i < t.size(); ++i) {
      s.data.append(text[i]);
      crc = io::crc32c(text[i], crc);
    }
  } else {
    s.data.append(elements(t));
    crc = io::crc32c(elements(t));
  }
  entry.set_size(static_cast<std::int64_t>(s.data.size()) - entry.offset());
  entry.set_crc32c(io::mask_crc(crc));
  s.entries[key] = serialize(entry);
}

void BundleWriter::finish() {
  State& s = *state_;
  proto::BundleHeaderProto header;
  header.set_num_shards(1);
  header.mutable_version()->set_producer(kVersion);
  io::TableWriter table;
  table.add("", serialize(header));
  for (const auto& [key, entry] : s.entries) table.add(key, entry);
  io::AtomicFile index(bundle_index_path(s.prefix));
  index.append(table.finish());
  // Both are on the disk before one is renamed; a bundle is there once its index is.
  s.data.finish();
  index.finish();
  s.data.commit();
  index.commit();
}

struct BundleReader::State {
  std::string prefix, index_path;
  int shards = 1;
  bool swap = false;
  std::map<std::string, proto::BundleEntryProto, std::less<>> entries, slices;

  const proto::BundleEntryProto& entry(std::string_view key) const;
  TensorShape shape_of(std::string_view key, const proto::BundleEntryProto& e) const;
  Tensor read(std::string_view key, const proto::BundleEntryProto& e) const;
  Tensor read_numbers(std::string_view key, const proto::BundleEntryProto& e, DType dtype,
                      const TensorShape& shape) const;
  Tensor read_strings(std::string_view key, const proto::BundleEntryProto& e,
                      const TensorShape& shape) const;
  Tensor join_slices(std::string_view key, const proto::BundleEntryProto& e, DType dtype,
                     const TensorShape& shape) const;
  std::string what(std::string_view key) const {
    return format("[checkpoint] \"{}\" of \"{}\"", key, index_path);
  }
};

BundleReader::BundleReader(const std::string& prefix) : state_(new State) {
  State& s = *state_;
  s.prefix = prefix;
  s.index_path = bundle_index_path(prefix);
  RILL_CHECK(io::file_exists(s.index_path), not_found,
             "[checkpoint] there is no checkpoint \"{}\": \"{}\" does not exist. A checkpoint is "
             "named by its prefix, without .index or .data; latest_checkpoint() finds the newest "
             "of a folder",
             prefix, s.index_path);
  const QuietProtobuf quiet;
  const std::string bytes = io::file_contents(s.index_path);
  const io::TableEntries table = io::read_table(bytes, s.index_path);
  proto::BundleHeaderProto header;
  RILL_CHECK(!table.empty() && table[0].first.empty() && header.ParseFromString(table[0].second),
             data_loss, "[checkpoint] \"{}\" has no header; it is not the index of a checkpoint",
             s.index_path);
  RILL_CHECK(header.version().min_consumer() <= kVersion, unimplemented,
             "[checkpoint] \"{}\" asks for readers of version {}; this one is of version {}",
             s.index_path, header.version().min_consumer(), kVersion);
  RILL_CHECK(header.num_shards() >= 1 && header.num_shards() <= 99999, data_loss,
             "[checkpoint] \"{}\" says that it has {} data files", s.index_path,
             header.num_shards());
  s.shards = header.num_shards();
  s.swap = header.endianness() == proto::BundleHeaderProto::BIG;
  for (std::size_t i = 1; i < table.size(); ++i) {
    const auto& [key, value] = table[i];
    proto::BundleEntryProto entry;
    RILL_CHECK(entry.ParseFromString(value), data_loss,
               "[checkpoint] \"{}\" is damaged: the entry of \"{}\" cannot be read", s.index_path,
               key);
    RILL_CHECK(entry.shard_id() >= 0 && entry.shard_id() < s.shards && entry.offset() >= 0 &&
                   entry.size() >= 0,
               data_loss,
               "[checkpoint] \"{}\" is damaged: \"{}\" is in data file {} of {} at offset {} "
               "with {} bytes",
               s.index_path, key, entry.shard_id(), s.shards, entry.offset(), entry.size());
    // Keys of slices begin with a zero byte.
    (key[0] == '\0' ? s.slices : s.entries).emplace(key, std::move(entry));
  }
}
BundleReader::~BundleReader() = default;

const std::string& BundleReader::prefix() const { return state_->prefix; }
std::vector<std::string> BundleReader::keys() const {
  std::vector<std::string> out;
  for (const auto& e : state_->entries) out.push_back(e.first);
  return out;
}
bool BundleReader::has(std::string_view key) const { return state_->entries.contains(key); }
DType BundleReader::dtype(std::string_view key) const {
  return from_proto(state_->entry(key).dtype(), state_->what(key));
}
TensorShape BundleReader::shape(std::string_view key) const {
  return state_->shape_of(key, state_->entry(key));
}
Tensor BundleReader::read(std::string_view key) const {
  return state_->read(key, state_->entry(key));
}

const proto::BundleEntryProto& BundleReader::State::entry(std::string_view key) const {
  const auto found = entries.find(key);
  if (found != entries.end()) return found->second;
  std::vector<std::string> known;
  for (const auto& e : entries) known.push_back(e.first);
  RILL_FAIL(not_found, "[checkpoint] \"{}\" has no tensor called \"{}\" among its {}.{}",
            index_path, key, known.size(), did_you_mean(key, known));
}

TensorShape BundleReader::State::shape_of(std::string_view key,
                                          const proto::BundleEntryProto& e) const {
  const TensorShape shape = from_proto(e.shape(), what(key));
  RILL_CHECK(shape.is_fully_defined(), data_loss, "{} is damaged: its shape is {}", what(key),
             shape);
  return shape;
}

Tensor BundleReader::State::read(std::string_view key, const proto::BundleEntryProto& e) const {
  const DType dtype = from_proto(e.dtype(), what(key));
  RILL_CHECK(dtype != resource && dtype != variant, unimplemented,
             "{} is of dtype {}, which cannot be read as a tensor", what(key), dtype);
  const TensorShape shape = shape_of(key, e);
  if (e.slices_size() > 0) return join_slices(key, e, dtype, shape);
  return dtype == string ? read_strings(key, e, shape) : read_numbers(key, e, dtype, shape);
}

namespace {

// The data file reaches as far as the entry says.
void check_extent(const io::InputFile& file, const proto::BundleEntryProto& e,
                  std::string_view key) {
  const auto offset = static_cast<std::uint64_t>(e.offset()),
             size = static_cast<std::uint64_t>(e.size());
  RILL_CHECK(offset <= file.size() && size <= file.size() - offset, data_loss,
             "[checkpoint] \"{}\" has {} bytes; \"{}\" is at offset {} with {} bytes. The file "
             "was cut short, or belongs to another index",
             file.path(), file.size(), key, offset, size);
}

void check_crc(const io::InputFile& file, const proto::BundleEntryProto& e, std::string_view key,
               std::uint32_t crc) {
  RILL_CHECK(io::mask_crc(crc) == e.crc32c(), data_loss,
             "[checkpoint] \"{}\" is damaged at offset {}: the checksum of the {} bytes of \"{}\" "
             "is wrong",
             file.path(), e.offset(), e.size(), key);
}

}  // namespace

Tensor BundleReader::State::read_numbers(std::string_view key, const proto::BundleEntryProto& e,
                                         DType dtype, const TensorShape& shape) const {
  std::int64_t bytes = 0;
  RILL_CHECK(!__builtin_mul_overflow(shape.num_elements(),
                                     static_cast<std::int64_t>(dtype.itemsize()), &bytes) &&
                 bytes == e.size(),
             data_loss, "{} is damaged: {} of shape {} in {} bytes", what(key), dtype, shape,
             e.size());
  const io::InputFile file(bundle_data_path(prefix, e.shard_id(), shards));
  check_extent(file, e, key);
  Tensor out = make_tensor(dtype, shape);
  auto* to = static_cast<char*>(out.impl()->data);
  const auto n = static_cast<std::size_t>(bytes);
  file.read(static_cast<std::uint64_t>(e.offset()), to, n);
  check_crc(file, e, key, io::crc32c({to, n}));
  if (swap) swap_bytes(to, n, dtype.is_complex() ? dtype.itemsize() / 2 : dtype.itemsize());
  if (dtype == bool_)  // any byte but 0 is true, and 1 is the only one that C++ knows
    for (std::size_t i = 0; i < n; ++i) to[i] = to[i] != 0;
  return out;
}

Tensor BundleReader::State::read_strings(std::string_view key, const proto::BundleEntryProto& e,
                                         const TensorShape& shape) const {
  const std::int64_t n = shape.num_elements();
  const io::InputFile file(bundle_data_path(prefix, e.shard_id(), shards));
  check_extent(file, e, key);
  // Each string has a byte of length at least, and their checksum four.
  RILL_CHECK(e.size() >= 4 && n <= e.size() - 4, data_loss, "{} is damaged: {} strings in {} bytes",
             what(key), n, e.size());
  std::string bytes(static_cast<std::size_t>(e.size()), '\0');
  file.read(static_cast<std::uint64_t>(e.offset()), bytes.data(), bytes.size());
  const auto damaged = [&](const char* how) {
    RILL_FAIL(data_loss, "[checkpoint] \"{}\" is damaged at offset {}: {} of \"{}\"", file.path(),
              e.offset(), how, key);
  };
  std::string_view rest = bytes;
  std::vector<std::uint64_t> lengths(static_cast<std::size_t>(n));
  std::uint32_t crc = 0;
  for (std::uint64_t& length : lengths) {
    if (!io::get_varint(rest, &length)) damaged("a length cannot be read");
    crc = extend_by_length(crc, length);
  }
  if (rest.size() < 4) damaged("the checksum of the lengths is missing");
  auto stored = io::get_fixed<std::uint32_t>(rest.data());
  if (swap) stored = __builtin_bswap32(stored);
  if (stored != io::mask_crc(crc)) damaged("the checksum of the lengths is wrong");
  crc = io::crc32c(rest, crc);
  check_crc(file, e, key, crc);
  rest.remove_prefix(4);
  Tensor out = make_tensor(string, shape);
  auto* to = mutable_data<std::string>(out);
  for (std::uint64_t length : lengths) {
    if (length > rest.size()) damaged("a string is longer than what is there");
    *to++ = rest.substr(0, length);
    rest.remove_prefix(length);
  }
  if (!rest.empty()) damaged("there are bytes left after the strings");
  return out;
}

namespace {

// Copies a part into the box of the whole that begins at `start`.
template <class T>
void copy_box(const T* from, const Dims& part, T* to, const Dims& whole, const Dims& start,
              std::size_t axis) {
  if (axis == part.size()) {
    *to = *from;
    return;
  }
  std::int64_t from_step = 1, to_step = 1;
  for (std::size_t i = axis + 1; i < part.size(); ++i) {
    from_step *= part[i];
    to_step *= whole[i];
  }
  to += start[axis] * to_step;
  if (axis + 1 == part.size()) {
    std::copy(from, from + part[axis], to);
    return;
  }
  for (std::int64_t i = 0; i < part[axis]; ++i)
    copy_box(from + i * from_step, part, to + i * to_step, whole, start, axis + 1);
}

struct Bytes16 {
  char bytes[16];
};

}  // namespace

Tensor BundleReader::State::join_slices(std::string_view key, const proto::BundleEntryProto& e,
                                        DType dtype, const TensorShape& shape) const {
  // The parts are read and measured before memory for the whole is taken.
  struct Part {
    Tensor value;
    Dims start;
  };
  std::vector<Part> parts;
  std::int64_t covered = 0;
  for (const proto::TensorSliceProto& slice : e.slices()) {
    RILL_CHECK(slice.extent_size() == shape.rank(), data_loss,
               "{} is damaged: a slice has {} dimensions, the shape is {}", what(key),
               slice.extent_size(), shape);
    Part part;
    Dims size;
    std::vector<SliceExtent> extents;
    for (int i = 0; i < slice.extent_size(); ++i) {
      const auto& x = slice.extent(i);
      const bool whole = x.has_length_case() != proto::TensorSliceProto::Extent::kLength;
      extents.push_back(whole ? SliceExtent{0, -1} : SliceExtent{x.start(), x.length()});
      const std::int64_t d = shape.dim(i), start = whole ? 0 : x.start(),
                         length = whole ? d : x.length();
      RILL_CHECK(start >= 0 && length >= 0 && length <= d && start <= d - length, data_loss,
                 "{} is damaged: a slice takes {} of dimension {} from {} on; the shape is {}",
                 what(key), length, i, start, shape);
      part.start.push_back(start);
      size.push_back(length);
    }
    const auto found = slices.find(slice_key(key, extents));
    RILL_CHECK(found != slices.end(), data_loss, "{} is damaged: a slice of it is missing",
               what(key));
    RILL_CHECK(found->second.slices_size() == 0 && found->second.dtype() == e.dtype() &&
                   shape_of(key, found->second) == TensorShape(size),
               data_loss, "{} is damaged: a slice of shape {} is stored as {}", what(key),
               TensorShape(size), shape_of(key, found->second));
    part.value = read(key, found->second);
    covered += part.value.size();
    parts.push_back(std::move(part));
  }
  RILL_CHECK(covered == shape.num_elements(), data_loss,
             "{} is damaged: its slices have {} elements, its shape {} has {}", what(key), covered,
             shape, shape.num_elements());
  Tensor out = make_tensor(dtype, shape);
  for (const Part& p : parts) {
    const Dims part = p.value.shape().dims();
    if (p.value.size() == 0) continue;
    const auto copy = [&]<class T>(T*) {
      copy_box(host_data<T>(p.value), part, mutable_data<T>(out), shape.dims(), p.start, 0);
    };
    if (dtype == string) {
      copy(static_cast<std::string*>(nullptr));
    } else {
      switch (dtype.itemsize()) {
        case 1:
          copy(static_cast<std::uint8_t*>(nullptr));
          break;
        case 2:
          copy(static_cast<std::uint16_t*>(nullptr));
          break;
        case 4:
          copy(static_cast<std::uint32_t*>(nullptr));
          break;
        case 8:
          copy(static_cast<std::uint64_t*>(nullptr));
          break;
        default:
          copy(static_cast<Bytes16*>(nullptr));
      }
    }
  }
  return out;
}

}  // namespace rill
