#include "rill/data/files_impl.h"
#include "rill/ops/array_ops.h"

namespace rill::data {
namespace {

class FilesDataset final : public DatasetImpl {
 public:
  FilesDataset(std::vector<std::string> files, std::shared_ptr<const FileFormat> format)
      : files_(std::move(files)), format_(std::move(format)) {}
  const char* name() const override { return format_->name(); }
  std::vector<std::string> files() const override { return files_; }
  std::int64_t cardinality() const override { return UNKNOWN_CARDINALITY; }
  std::unique_ptr<Cursor> make_cursor(Place) const override;
  const std::vector<std::string>& paths() const { return files_; }
  const FileFormat& format() const { return *format_; }
  Nest element_of(std::vector<Tensor> columns) const {
    return format_->is_tuple() ? Nest(std::move(columns)) : Nest(columns[0]);
  }

 protected:
  ElementSpec make_spec() const override {
    std::vector<ElementSpec> columns;
    for (DType d : format_->dtypes()) columns.emplace_back(TensorSpec(TensorShape::scalar(), d));
    return format_->is_tuple() ? ElementSpec::tuple(std::move(columns)) : columns[0];
  }

 private:
  std::vector<std::string> files_;
  std::shared_ptr<const FileFormat> format_;
};

class FilesCursor final : public Cursor {
 public:
  explicit FilesCursor(const FilesDataset& dataset)
      : dataset_(dataset), columns_(dataset.format().dtypes()) {}

  bool next(Nest* element) override {
    columns_.begin_element();
    if (!next_record()) return false;
    *element = dataset_.element_of(columns_.take());
    return true;
  }
  bool makes_batches() const override { return true; }
  std::int64_t next_batch(std::int64_t n, Nest* batch) override {
    columns_.begin_batch(n);
    // A record that cannot be read takes the place of its batch, and those after it begin where
    // they would have.
    std::exception_ptr error;
    for (std::int64_t i = 0; i < n; ++i) {
      columns_.begin_row();
      try {
        if (!next_record()) break;
      } catch (const errors::Error&) {
        if (!error) error = std::current_exception();
      }
    }
    if (error) std::rethrow_exception(error);
    const std::int64_t rows = columns_.rows();
    if (rows > 0) *batch = dataset_.element_of(columns_.take());
    return rows;
  }
  std::int64_t skip(std::int64_t n) override {
    std::int64_t done = 0;
    for (; done < n; ++done) {
      columns_.begin_element();
      if (!next_record()) break;
    }
    return done;
  }

  void save(StateWriter& out) override {
    out.stage(dataset_.name(), settings());
    out.put(static_cast<std::int64_t>(file_));
    out.put(static_cast<std::int64_t>(reader_ != nullptr));
    if (!reader_) return;
    out.put(dataset_.paths()[file_]);
    out.put(static_cast<std::int64_t>(reader_->position()));
  }
  void restore(StateReader& in) override {
    in.stage(dataset_.name(), settings());
    const std::vector<std::string>& files = dataset_.paths();
    file_ = static_cast<std::size_t>(in.integer(0, static_cast<std::int64_t>(files.size())));
    if (!in.boolean()) return;
    const std::string name(in.text());
    const std::int64_t position = in.integer(0, INT64_MAX);
    RILL_CHECK(file_ < files.size() && files[file_] == name, invalid_argument,
               "[Iterator.restore] the state was saved while file {} was read, \"{}\"; here it is "
               "\"{}\"",
               file_, name, file_ < files.size() ? files[file_] : "");
    reader_ = dataset_.format().open(name);
    reader_->seek(static_cast<std::uint64_t>(position));
  }

 private:
  Settings settings() const {
    return {{"number of files", static_cast<std::int64_t>(dataset_.paths().size())}};
  }
  // A record as a row of columns_; false at the end of the last file.
  bool next_record() {
    while (file_ < dataset_.paths().size()) {
      try {
        if (!reader_) reader_ = dataset_.format().open(dataset_.paths()[file_]);
        if (reader_->read(columns_)) {
          columns_.end_row();
          return true;
        }
      } catch (const errors::InvalidArgumentError&) {
        if (!reader_) ++file_;
        throw;
      } catch (const errors::Error&) {
        leave_file();
        throw;
      }
      leave_file();
    }
    return false;
  }
  void leave_file() {
    reader_.reset();
    ++file_;
  }

  const FilesDataset& dataset_;
  Columns columns_;
  std::size_t file_ = 0;
  std::unique_ptr<FileReader> reader_;  // null: the file is not open
};

std::unique_ptr<Cursor> FilesDataset::make_cursor(Place) const {
  return std::make_unique<FilesCursor>(*this);
}

}  // namespace

Filenames::Filenames(const Tensor& names) {
  RILL_CHECK(names.defined() && names.dtype() == string, invalid_argument,
             "[dataset] names of files are {}; expected strings",
             names.defined() ? names.dtype().name() : "undefined");
  if (names.is_symbolic()) {
    symbol_ = without_graph(names);
    return;
  }
  RILL_CHECK(names.ndim() <= 1, invalid_argument,
             "[dataset] names of files have shape {}; expected a scalar or a vector",
             names.shape());
  list_ = names.to_vector<std::string>();
}

Dataset dataset_of_files(const Filenames& names, std::shared_ptr<const FileFormat> format,
                         std::int64_t parallel_reads) {
  RILL_CHECK(parallel_reads >= AUTOTUNE, invalid_argument,
             "[{}] num_parallel_reads is {}; expected a number of files to read at a time, 0 for "
             "one, or AUTOTUNE",
             format->name(), parallel_reads);
  if (names.is_symbolic()) {
    const Tensor& symbol = names.symbol();
    return make_recipe(make_dataset<FilesDataset>(std::vector<std::string>(), format), {}, {symbol},
                       [symbol, format, parallel_reads](const Bindings& b) {
                         return dataset_of_files(b.of(symbol), format, parallel_reads);
                       });
  }
  if (!names.dataset() && parallel_reads == 0)
    return make_dataset<FilesDataset>(names.list(), std::move(format));
  const Dataset each = names.dataset()
                           ? *names.dataset()
                           : Dataset::from_tensor_slices(constant(names.list(), string));
  const auto read = [format](const Tensor& name) {
    return dataset_of_files(Filenames(name), format, 0);
  };
  if (parallel_reads == 0) return each.flat_map(read);
  return each.interleave(read, {.cycle_length = parallel_reads == AUTOTUNE ? 0 : parallel_reads,
                                .num_parallel_calls = parallel_reads});
}

}  // namespace rill::data
