#include "rill/data/file_cache_impl.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "rill/io/file.h"
#include "rill/io/gfile.h"

namespace rill::data {
namespace {

constexpr const char *kBegin = "RillCache1", *kElement = "element", *kEnd = "end";

std::string cache_path(const std::string& filename) { return filename + ".cache"; }
std::string part_path(const std::string& filename) { return filename + ".part"; }

// A record: its kind, then what belongs to it.
template <class F>
std::string record_of(const char* kind, F content) {
  StateWriter out;
  out.stage(kind);
  content(out);
  return std::move(out).finish();
}

}  // namespace

LockFile::LockFile(const std::string& path, std::string_view why) : path_(path) {
  for (;;) {
    fd_ = ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0644);
    RILL_CHECK(fd_ >= 0, permission_denied, "[cache] cannot make the lock file \"{}\": {}", path,
               std::strerror(errno));
    if (::flock(fd_, LOCK_EX | LOCK_NB) != 0) {
      ::close(fd_);
      fd_ = -1;
      RILL_FAIL(already_exists, "{}", why);
    }
    // The one who had it may have removed the file between the two calls.
    struct stat ours, there;
    if (::fstat(fd_, &ours) == 0 && ::stat(path.c_str(), &there) == 0 &&
        ours.st_ino == there.st_ino && ours.st_dev == there.st_dev)
      return;
    ::close(fd_);
  }
}
LockFile::~LockFile() {
  if (fd_ < 0) return;
  ::unlink(path_.c_str());
  ::close(fd_);
}

CacheWriter::CacheWriter(const std::string& filename, const std::string& described)
    : filename_(filename),
      lock_((io::create_folders(io::folder_of(filename)), filename + ".lockfile"),
            format("[cache] \"{}\" is being written by another iterator or process. Let one go "
                   "through the whole dataset before others begin, or give each another file",
                   filename)),
      file_(std::make_unique<io::TFRecordWriter>(part_path(filename))) {
  file_->write(record_of(kBegin, [&](StateWriter& out) { out.put(std::string_view(described)); }));
}
CacheWriter::~CacheWriter() {
  file_.reset();
  if (committed_) return;
  try {
    io::remove_file(part_path(filename_));
  } catch (const errors::Error&) {  // it is overwritten next time
  }
}
void CacheWriter::write(const Nest& element) {
  file_->write(record_of(kElement, [&](StateWriter& out) { out.put(element); }));
  ++written_;
}
void CacheWriter::commit() {
  file_->write(record_of(kEnd, [&](StateWriter& out) { out.put(written_); }));
  file_->close();
  io::gfile::rename(part_path(filename_), cache_path(filename_), true);
  committed_ = true;
}

bool CacheReader::exists(const std::string& filename) {
  return io::file_exists(cache_path(filename));
}
CacheReader::CacheReader(const std::string& filename, const std::string& described)
    : path_(cache_path(filename)), file_(path_) {
  std::string record;
  std::string_view saved;
  std::unique_ptr<StateReader> in;
  try {
    if (file_.read(&record)) {
      in = std::make_unique<StateReader>(record);
      in->stage(kBegin);
      saved = in->text();
    }
  } catch (const errors::InvalidArgument&) {
    in.reset();
  }
  RILL_CHECK(in, data_loss, "[cache] \"{}\" is not a file that cache() wrote; remove it", path_);
  RILL_CHECK(saved == described, invalid_argument,
             "[cache] \"{}\" holds elements {}; those of this dataset are {}. Remove the file, or "
             "give another name",
             path_, saved, described);
}
bool CacheReader::read(Nest* element) {
  std::string record;
  const std::uint64_t at = file_.offset();
  try {
    RILL_CHECK(file_.read(&record), data_loss, "its end is missing");
    StateReader in(record);
    const std::string_view kind = in.kind();
    if (kind == kElement) {
      *element = in.nest();
      in.finish();
      ++taken_;
      return true;
    }
    RILL_CHECK(kind == kEnd && in.integer() == taken_, data_loss, "elements are missing");
    file_.seek(at);  // it stays at its end
    return false;
  } catch (const errors::DataLoss& e) {
    RILL_FAIL(data_loss,
              "[cache] \"{}\" is damaged at byte {}: {}. Remove the file; it is then made "
              "anew",
              path_, at, e.message());
  }
}
void CacheReader::seek(std::uint64_t offset, std::int64_t taken) {
  file_.seek(offset);
  taken_ = taken;
}

namespace {

class FileCacheDataset final : public UnaryDataset {
 public:
  FileCacheDataset(const Dataset& input, std::string name)
      : UnaryDataset(input), filename(std::move(name)) {}
  const char* name() const override { return "CacheDataset"; }
  Facts facts() const override { return {{"filename", filename}}; }
  std::unique_ptr<Cursor> make_cursor(Place place) const override;
  std::string described() const { return spec().to_string(); }
  const std::string filename;
};

// The first whole pass writes the file, all others read it. A pass that was restored in its middle
// writes nothing: the elements before it are those of another process.
class FileCacheCursor final : public UnaryCursor {
 public:
  FileCacheCursor(std::unique_ptr<Cursor> input, const FileCacheDataset& dataset)
      : UnaryCursor(std::move(input)), dataset_(dataset) {}
  bool next(Nest* element) override {
    if (mode_ == Mode::begins) begin();
    if (mode_ == Mode::reads) return reader_->read(element);
    bool there = false;
    try {
      there = input_->next(element);
    } catch (...) {
      stop_writing();  // the file would lack an element
      throw;
    }
    if (!writer_) return there;
    if (there) {
      writer_->write(*element);
    } else {
      writer_->commit();
      stop_writing();
    }
    return there;
  }
  void save(StateWriter& out) override {
    out.stage("CacheDataset");
    out.put(static_cast<std::int64_t>(mode_ == Mode::writes ? Mode::passes_on : mode_));
    if (mode_ == Mode::reads) {
      out.put(static_cast<std::int64_t>(reader_->offset()));
      out.put(reader_->taken());
    }
    input_->save(out);
  }
  void restore(StateReader& in) override {
    in.stage("CacheDataset");
    mode_ = static_cast<Mode>(in.integer(0, static_cast<std::int64_t>(Mode::passes_on)));
    if (mode_ == Mode::writes) mode_ = Mode::passes_on;
    if (mode_ == Mode::reads) {
      const std::int64_t offset = in.integer(0, INT64_MAX), taken = in.integer(0, INT64_MAX);
      reader_ = std::make_unique<CacheReader>(dataset_.filename, dataset_.described());
      reader_->seek(static_cast<std::uint64_t>(offset), taken);
    }
    input_->restore(in);
  }

 private:
  enum class Mode : std::int64_t { begins, reads, writes, passes_on };
  void begin() {
    if (!CacheReader::exists(dataset_.filename)) {
      writer_ = std::make_unique<CacheWriter>(dataset_.filename, dataset_.described());
      mode_ = Mode::writes;
      // Somebody may have finished it just before the lock was free.
      if (!CacheReader::exists(dataset_.filename)) return;
      writer_.reset();
    }
    reader_ = std::make_unique<CacheReader>(dataset_.filename, dataset_.described());
    mode_ = Mode::reads;
  }
  void stop_writing() {
    writer_.reset();
    mode_ = Mode::passes_on;
  }

  const FileCacheDataset& dataset_;
  Mode mode_ = Mode::begins;
  std::unique_ptr<CacheWriter> writer_;
  std::unique_ptr<CacheReader> reader_;
};

std::unique_ptr<Cursor> FileCacheDataset::make_cursor(Place place) const {
  return std::make_unique<FileCacheCursor>(input().start(place), *this);
}

}  // namespace

Dataset cached_in_file(const Dataset& input, std::string_view filename) {
  return make_dataset<FileCacheDataset>(input, std::string(filename));
}

}  // namespace rill::data
