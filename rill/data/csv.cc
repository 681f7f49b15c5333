#include <algorithm>

#include "rill/data/file_datasets.h"
#include "rill/data/files_impl.h"
#include "rill/io/compression_impl.h"
#include "rill/io/csv_impl.h"

namespace rill::data {
namespace {

class CsvFormat final : public FileFormat {
 public:
  CsvFormat(io::CsvSyntax syntax, std::vector<RecordDefault> defaults, io::Compression compression,
            bool header)
      : syntax(std::move(syntax)),
        defaults(std::move(defaults)),
        compression(compression),
        header(header) {}
  const char* name() const override { return "CsvDataset"; }
  std::unique_ptr<FileReader> open(const std::string& path) const override;
  std::vector<DType> dtypes() const override {
    std::vector<DType> types;
    for (const RecordDefault& d : defaults) types.push_back(d.dtype());
    return types;
  }
  bool is_tuple() const override { return true; }

  const io::CsvSyntax syntax;
  const std::vector<RecordDefault> defaults;
  const io::Compression compression;
  const bool header;
};

class CsvReader final : public FileReader {
 public:
  CsvReader(const std::string& path, const CsvFormat& format)
      : file_(path, format.compression), format_(format), row_(format.syntax) {
    if (format.header) next_row();
  }
  bool read(Columns& out) override {
    begin_ = file_.offset();
    const std::string_view row = next_row();
    if (!row.data()) return false;
    io::CsvTrouble trouble;
    if (!row_.split(row, &trouble)) fail(trouble.field, trouble.text);
    const std::vector<std::string_view>& fields = row_.fields();
    const bool all = format_.syntax.columns.empty();
    if (fields.size() != out.size())
      RILL_FAIL(invalid_argument,
                "[CsvDataset] \"{}\", line {}: the row has {} fields; expected {}{}", file_.path(),
                line(), row_.width(), all ? "" : "more than ",
                all ? static_cast<std::int64_t>(out.size()) : format_.syntax.columns.back());
    for (std::size_t i = 0; i < fields.size(); ++i) put(out, i, fields[i]);
    return true;
  }
  std::uint64_t position() const override { return file_.offset(); }
  void seek(std::uint64_t position) override { file_.seek(position); }

 private:
  std::string_view next_row() { return io::next_csv_row(file_, format_.syntax); }
  template <class T>
  void put_number(Columns& out, std::size_t i, std::string_view field) {
    if (!io::parse_field(field, &out.at<T>(i)))
      fail(row_.number_of(i),
           "\"" + std::string(field) + "\" is no " + std::string(out.dtype(i).name()));
  }
  void put(Columns& out, std::size_t i, std::string_view field) {
    if (row_.is_missing(field)) return put_default(out, i);
    const DType d = out.dtype(i);
    if (d == float32) return put_number<float>(out, i, field);
    if (d == float64) return put_number<double>(out, i, field);
    if (d == int32) return put_number<std::int32_t>(out, i, field);
    if (d == int64) return put_number<std::int64_t>(out, i, field);
    out.at<std::string>(i).assign(field);
  }
  void put_default(Columns& out, std::size_t i) {
    const RecordDefault& d = format_.defaults[i];
    if (d.required()) fail(row_.number_of(i), "the field is empty, and the column has no default");
    if (d.dtype() == float32) out.at<float>(i) = d.value().item<float>();
    if (d.dtype() == float64) out.at<double>(i) = d.value().item<double>();
    if (d.dtype() == int32) out.at<std::int32_t>(i) = d.value().item<std::int32_t>();
    if (d.dtype() == int64) out.at<std::int64_t>(i) = d.value().item<std::int64_t>();
    if (d.dtype() == string) out.at<std::string>(i) = d.value().item<std::string>();
  }
  [[noreturn]] void fail(std::int64_t field, const std::string& why) const {
    RILL_FAIL(invalid_argument, "[CsvDataset] \"{}\", line {}, column {}: {}", file_.path(), line(),
              field, why);
  }
  // Of the row at begin_, counted from 1: looked for only when somebody wants to know.
  std::int64_t line() const {
    io::UnpackingFile again(file_.path(), format_.compression);
    std::int64_t n = 1;
    for (std::uint64_t left = begin_; left > 0;) {
      std::string_view there = again.peek(1);
      if (there.empty()) break;
      there =
          there.substr(0, static_cast<std::size_t>(std::min<std::uint64_t>(left, there.size())));
      n += std::count(there.begin(), there.end(), '\n');
      left -= there.size();
      again.skip(there.size());
    }
    return n;
  }

  io::UnpackingFile file_;
  const CsvFormat& format_;
  io::CsvRow row_;
  std::uint64_t begin_ = 0;
};

std::unique_ptr<FileReader> CsvFormat::open(const std::string& path) const {
  return std::make_unique<CsvReader>(path, *this);
}

}  // namespace

Dataset CsvDataset(const Filenames& filenames, const std::vector<RecordDefault>& record_defaults,
                   CsvOptions o) {
  RILL_CHECK(!record_defaults.empty(), invalid_argument,
             "[CsvDataset] record_defaults is empty; expected one per column");
  RILL_CHECK(o.select_cols.empty() || o.exclude_cols.empty(), invalid_argument,
             "[CsvDataset] both select_cols and exclude_cols are given; expected one of them");
  RILL_CHECK(o.select_cols.empty() || o.select_cols.size() == record_defaults.size(),
             invalid_argument,
             "[CsvDataset] record_defaults has {} columns and select_cols {}; expected as many",
             record_defaults.size(), o.select_cols.size());
  if (!o.exclude_cols.empty()) {
    const io::CsvSyntax left_out =
        io::csv_syntax("CsvDataset", o.field_delim, true, "", o.exclude_cols);
    std::size_t skipped = 0;
    for (std::int64_t i = 0; o.select_cols.size() < record_defaults.size(); ++i) {
      if (skipped < left_out.columns.size() && left_out.columns[skipped] == i)
        ++skipped;
      else
        o.select_cols.push_back(i);
    }
  }
  return dataset_of_files(
      filenames,
      std::make_shared<CsvFormat>(
          io::csv_syntax("CsvDataset", o.field_delim, o.use_quote_delim, o.na_value, o.select_cols),
          record_defaults, io::compression_of(o.compression_type), o.header),
      0);
}

}  // namespace rill::data
