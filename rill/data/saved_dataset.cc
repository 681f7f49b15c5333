// Datasets in files: a folder that tf.data's save() and load() know. In it are dataset_spec.pb,
// what is known of elements; snapshot.metadata, which names the run that counts; and for each run a
// folder of shards with the records.
#include <chrono>
#include <map>
#include <random>

#include "rill/data/element_records_impl.h"
#include "rill/data/files_impl.h"
#include "rill/data/spec_proto_impl.h"
#include "rill/graph/graph_def/tensor_proto_impl.h"
#include "rill/io/compression_impl.h"
#include "rill/io/gfile.h"
#include "rill/io/tf_record.h"
#include "rill/io/wire_impl.h"

namespace rill::data {
namespace {

using io::WireReader;
using io::WireType;

constexpr const char *kSpecFile = "dataset_spec.pb", *kMetadataFile = "snapshot.metadata";
constexpr std::int64_t kRecordsVersion = 2;  // of shards: TFRecords of TensorProtos

// tensorflow/core/protobuf/snapshot.proto
namespace metadata_field {
constexpr std::uint32_t kRun = 2, kTimestamp = 3, kVersion = 4, kDtypes = 5, kElements = 6,
                        kFinalized = 1000;
}
struct Metadata {
  std::string run;
  std::int64_t version = 0, elements = 0;
  bool finalized = false;
};
std::string metadata_bytes(const std::string& run, const std::vector<DType>& dtypes,
                           std::int64_t elements) {
  const auto now = std::chrono::duration_cast<std::chrono::microseconds>(
                       std::chrono::system_clock::now().time_since_epoch())
                       .count();
  std::string out, packed;
  const auto number = [&](std::uint32_t field, std::int64_t v) {
    if (v == 0) return;
    io::put_key(out, field, WireType::varint);
    io::put_varint(out, static_cast<std::uint64_t>(v));
  };
  io::put_bytes(out, metadata_field::kRun, run);
  number(metadata_field::kTimestamp, now);
  number(metadata_field::kVersion, kRecordsVersion);
  for (DType d : dtypes) io::put_varint(packed, static_cast<std::uint64_t>(to_proto(d)));
  if (!packed.empty()) io::put_bytes(out, metadata_field::kDtypes, packed);
  number(metadata_field::kElements, elements);
  number(metadata_field::kFinalized, 1);
  return out;
}
Metadata metadata_of(std::string_view bytes, const std::string& path) {
  Metadata m;
  WireReader in(bytes);
  while (in.next()) {
    if (in.is(metadata_field::kRun, WireType::bytes))
      m.run = in.bytes();
    else if (in.is(metadata_field::kVersion, WireType::varint))
      m.version = static_cast<std::int64_t>(in.varint());
    else if (in.is(metadata_field::kElements, WireType::varint))
      m.elements = static_cast<std::int64_t>(in.varint());
    else if (in.is(metadata_field::kFinalized, WireType::varint))
      m.finalized = in.varint() != 0;
    else
      in.skip();
  }
  // The name of a folder in this one, and nothing that leads elsewhere.
  RILL_CHECK(in.good() && !m.run.empty() && m.run.find('/') == m.run.npos && m.run != "..",
             data_loss,
             "[load] \"{}\" does not name a run. A dataset that a data service saved in many "
             "processes is not read here",
             path);
  RILL_CHECK(m.version == kRecordsVersion, unimplemented,
             "[load] \"{}\" says version {}; expected {}. Save the dataset with TensorFlow 2.6 or "
             "later",
             path, m.version, kRecordsVersion);
  RILL_CHECK(m.finalized && m.elements >= 0, data_loss,
             "[load] \"{}\" says that saving did not come to its end; save the dataset again",
             path);
  return m;
}

// The files of one shard, one after the other.
class SnapshotDataset final : public DatasetImpl {
 public:
  SnapshotDataset(std::vector<std::string> names, std::string packing, ElementSpec spec)
      : paths(std::move(names)), compression(std::move(packing)), spec_(std::move(spec)) {}
  const char* name() const override { return "SnapshotDataset"; }
  std::int64_t cardinality() const override { return UNKNOWN_CARDINALITY; }
  std::unique_ptr<Cursor> make_cursor(Place) const override;
  std::vector<std::string> files() const override { return paths; }
  const std::vector<std::string> paths;
  const std::string compression;

 protected:
  ElementSpec make_spec() const override { return spec_; }

 private:
  ElementSpec spec_;
};

class SnapshotCursor final : public Cursor {
 public:
  explicit SnapshotCursor(const SnapshotDataset& dataset) : dataset_(dataset) {}
  bool next(Nest* element) override {
    for (; file_ < dataset_.paths.size(); ++file_, reader_.reset()) {
      const std::string& path = dataset_.paths[file_];
      if (!reader_) open(path);
      const std::string what =
          format("[load] \"{}\", the element at byte {}", path, reader_->offset());
      try {
        const auto next = [&](std::string* record) { return reader_->read(record); };
        if (read_element(dataset_.spec(), next, what, element)) return true;
      } catch (const errors::Error&) {
        // Where the next element begins cannot be known.
        ++file_;
        reader_.reset();
        throw;
      }
    }
    return false;
  }
  void save(StateWriter& out) override {
    out.stage(dataset_.name(), settings());
    out.put(static_cast<std::int64_t>(file_));
    out.put(static_cast<std::int64_t>(reader_ != nullptr));
    if (!reader_) return;
    out.put(dataset_.paths[file_]);
    out.put(static_cast<std::int64_t>(reader_->offset()));
  }
  void restore(StateReader& in) override {
    in.stage(dataset_.name(), settings());
    file_ =
        static_cast<std::size_t>(in.integer(0, static_cast<std::int64_t>(dataset_.paths.size())));
    if (!in.boolean()) return;
    const std::string saved(in.text());
    const std::int64_t offset = in.integer(0, INT64_MAX);
    RILL_CHECK(file_ < dataset_.paths.size() && dataset_.paths[file_] == saved, invalid_argument,
               "[Iterator.restore] the state was saved while \"{}\" was read, which is not a file "
               "of this dataset",
               saved);
    open(saved);
    reader_->seek(static_cast<std::uint64_t>(offset));
  }

 private:
  Settings settings() const {
    return {{"number of files", static_cast<std::int64_t>(dataset_.paths.size())}};
  }
  void open(const std::string& path) {
    reader_ = std::make_unique<io::TFRecordReader>(
        path, io::TFRecordOptions{.compression_type = dataset_.compression});
  }

  const SnapshotDataset& dataset_;
  std::size_t file_ = 0;
  std::unique_ptr<io::TFRecordReader> reader_;
};
std::unique_ptr<Cursor> SnapshotDataset::make_cursor(Place) const {
  return std::make_unique<SnapshotCursor>(*this);
}

// What reads the shards, with what is known beforehand.
class LoadDataset final : public UnaryDataset {
 public:
  LoadDataset(const Dataset& shards, ElementSpec spec, std::int64_t elements)
      : UnaryDataset(shards), spec_(std::move(spec)), elements_(elements) {}
  const char* name() const override { return "_LoadDataset"; }
  std::int64_t cardinality() const override { return elements_; }
  std::unique_ptr<Cursor> make_cursor(Place place) const override { return input().start(place); }

 protected:
  ElementSpec make_spec() const override { return spec_; }

 private:
  ElementSpec spec_;
  std::int64_t elements_;
};

// The folder of a run, which goes again unless the run is kept.
class RunFolder {
 public:
  explicit RunFolder(const std::string& dataset) {
    std::random_device random;
    name = std::to_string(std::uint64_t{random()} << 32 | random());
    path = io::gfile::join({dataset, name});
    io::gfile::makedirs(path);
  }
  ~RunFolder() {
    if (kept) return;
    try {
      io::gfile::rmtree(path);
    } catch (const errors::Error&) {  // the error on its way says more
    }
  }
  std::string name, path;
  bool kept = false;
};

std::int64_t shard_number(const Nest& result) {
  const Tensor t = result.is_tensor() ? result.as_tensor() : Tensor();
  RILL_CHECK(t.defined() && t.size() == 1 && (t.dtype() == int64 || t.dtype() == int32),
             invalid_argument, "[save] shard_func returned {}; expected an int64 scalar",
             result.to_string());
  const auto n = t.item<std::int64_t>();
  RILL_CHECK(n >= 0, invalid_argument, "[save] shard_func returned {}; expected 0 or more", n);
  return n;
}

constexpr std::int64_t kMostOpen = 16;  // shards that are read in turns

}  // namespace

void Dataset::save(const std::string& path, const SaveOptions& options) const {
  RILL_CHECK(cardinality() != INFINITE_CARDINALITY, invalid_argument,
             "[save] the dataset is infinite; take() a number of elements of it");
  io::compression_of(options.compression);  // checks it
  io::gfile::makedirs(path);
  RunFolder run(path);
  std::map<std::int64_t, io::TFRecordWriter> shards;
  const auto writer_of = [&](std::int64_t shard) -> io::TFRecordWriter& {
    const auto found = shards.find(shard);
    if (found != shards.end()) return found->second;
    const std::string folder = io::gfile::join({run.path, format("{:08d}.shard", shard)});
    io::gfile::makedirs(folder);
    return shards
        .emplace(shard, io::TFRecordWriter(io::gfile::join({folder, "00000000.snapshot"}),
                                           {.compression_type = options.compression}))
        .first->second;
  };
  Pass pass;
  const RandomSource source;
  const UserCall call("save", source, {&pass});
  const detail::Fn shard_of =
      detail::Fn::of([&](const Nest& element) { return options.shard_func(element); });
  std::int64_t elements = 0;
  ElementSpec spec = element_spec();
  Iterator it = make_iterator();
  for (Nest element; it.next(&element); ++elements) {
    const ElementSpec own = spec_of(element);
    if (elements == 0 && !own.same_structure(spec)) spec = own;
    RILL_CHECK(own.same_structure(spec), invalid_argument,
               "[save] element {} is {}; expected the structure of those before it", elements,
               element.to_string());
    const std::int64_t shard =
        options.shard_func ? shard_number(call(shard_of, element, elements)) : 0;
    io::TFRecordWriter& writer = writer_of(shard);
    write_element(element, [&](std::string_view record) { writer.write(record); });
  }
  if (shards.empty()) writer_of(0);
  for (auto& shard : shards) shard.second.close();
  // What was saved here before is there until the last of these is.
  io::write_file_atomically(io::gfile::join({path, kSpecFile}), spec_bytes(spec));
  run.kept = true;
  io::write_file_atomically(io::gfile::join({path, kMetadataFile}),
                            metadata_bytes(run.name, record_dtypes(spec), elements));
}

Dataset Dataset::load(const std::string& path) { return load(path, {}); }
Dataset Dataset::load(const std::string& path, const LoadOptions& options) {
  const std::string metadata_path = io::gfile::join({path, kMetadataFile});
  RILL_CHECK(
      io::gfile::exists(metadata_path), not_found,
      "[load] \"{}\" holds no saved dataset: there is no file {} in it. Dataset::save writes "
      "one",
      path, kMetadataFile);
  const Metadata metadata = metadata_of(io::file_contents(metadata_path), metadata_path);
  const ElementSpec spec =
      options.element_spec.is_empty()
          ? spec_of_bytes(io::file_contents(io::gfile::join({path, kSpecFile})),
                          format("[load] \"{}\"", io::gfile::join({path, kSpecFile})))
          : options.element_spec;
  io::compression_of(options.compression);
  const std::string run = io::gfile::join({path, metadata.run});
  std::vector<Dataset> shards;
  for (const std::string& folder : io::gfile::glob(io::gfile::join({run, "*.shard"})))
    shards.push_back(make_dataset<SnapshotDataset>(
        io::gfile::glob(io::gfile::join({folder, "*.snapshot"})), options.compression, spec));
  RILL_CHECK(!shards.empty() || metadata.elements == 0, data_loss,
             "[load] \"{}\" holds no shards; {} says {} elements", run, kMetadataFile,
             metadata.elements);
  const auto shard = [shards](std::int64_t i) {
    RILL_CHECK(i >= 0 && i < static_cast<std::int64_t>(shards.size()), invalid_argument,
               "[load] there is no shard {}; there are {}", i, shards.size());
    return shards[static_cast<std::size_t>(i)];
  };
  const auto n = static_cast<std::int64_t>(shards.size());
  const Dataset elements =
      options.reader_func
          ? options.reader_func(range(n).map(shard))
          : range(n).interleave(shard, {.cycle_length = std::clamp(n, std::int64_t{1}, kMostOpen),
                                        .num_parallel_calls = n > 1 ? AUTOTUNE : 0});
  return make_dataset<LoadDataset>(elements, spec, metadata.elements);
}

}  // namespace rill::data
