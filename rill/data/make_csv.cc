// CSV files as batches of named columns.
#include <algorithm>
#include <limits>

#include "rill/data/file_datasets.h"
#include "rill/data/files_impl.h"
#include "rill/io/compression_impl.h"
#include "rill/io/csv_impl.h"
#include "rill/io/gfile.h"
#include "rill/ops/array_ops.h"

namespace rill::data::experimental {
namespace {

// The first rows of a file, as fields.
std::vector<std::vector<std::string>> first_rows(const std::string& path,
                                                 const io::CsvSyntax& syntax,
                                                 io::Compression compression, std::int64_t n) {
  io::UnpackingFile file(path, compression);
  io::CsvRow row(syntax);
  std::vector<std::vector<std::string>> rows;
  while (static_cast<std::int64_t>(rows.size()) < n) {
    const std::string_view text = io::next_csv_row(file, syntax);
    if (!text.data()) break;
    io::CsvTrouble trouble;
    RILL_CHECK(row.split(text, &trouble), invalid_argument,
               "[make_csv_dataset] \"{}\", row {}, column {}: {}", path, rows.size() + 1,
               trouble.field, trouble.text);
    rows.emplace_back(row.fields().begin(), row.fields().end());
  }
  return rows;
}

// The first of these that every field of a column is; empty ones are any.
const DType kInferred[] = {int32, int64, float32, float64, string};
bool fits(std::string_view field, int kind) {
  std::int32_t narrow;
  std::int64_t wide;
  double real;
  switch (kind) {
    case 0:
      return io::parse_field(field, &narrow);
    case 1:
      return io::parse_field(field, &wide);
    case 2:
      return io::parse_field(field, &real) &&
             real < static_cast<double>(std::numeric_limits<float>::max());
    case 3:
      return io::parse_field(field, &real);
    default:
      return true;
  }
}
RecordDefault default_of(DType d) {
  if (d == string) return RecordDefault("");
  return RecordDefault(zeros({}, d));
}

std::string joined(const std::vector<std::string>& names) {
  std::string text;
  for (const std::string& n : names) text += (text.empty() ? "" : ", ") + n;
  return text;
}

}  // namespace

Dataset make_csv_dataset(const Filenames& file_pattern, std::int64_t batch_size, MakeCsvOptions o) {
  RILL_CHECK(!file_pattern.dataset() && !file_pattern.is_symbolic(), invalid_argument,
             "[make_csv_dataset] the names of files are not known yet; expected strings");
  RILL_CHECK(batch_size > 0, invalid_argument,
             "[make_csv_dataset] batch_size is {}; expected 1 or more", batch_size);
  std::vector<std::string> files = io::gfile::glob(file_pattern.list());
  std::sort(files.begin(), files.end());
  RILL_CHECK(!files.empty(), not_found, "[make_csv_dataset] no files match {}",
             joined(file_pattern.list()));
  const io::Compression compression = io::compression_of(o.compression_type);
  const io::CsvSyntax syntax =
      io::csv_syntax("make_csv_dataset", o.field_delim, o.use_quote_delim, o.na_value, {});
  const bool infers = o.column_defaults.empty();
  std::vector<std::vector<std::string>> rows =
      first_rows(files[0], syntax, compression, o.num_rows_for_inference + 1);
  if (o.column_names.empty()) {
    RILL_CHECK(o.header, invalid_argument,
               "[make_csv_dataset] there is no header, and no column_names are given");
    RILL_CHECK(!rows.empty(), invalid_argument,
               "[make_csv_dataset] \"{}\" is empty; expected a header", files[0]);
    o.column_names = rows[0];
  }
  if (o.header && !rows.empty()) rows.erase(rows.begin());
  const std::vector<std::string>& names = o.column_names;
  for (std::size_t i = 0; i < names.size(); ++i)
    RILL_CHECK(std::find(names.begin(), names.begin() + static_cast<std::ptrdiff_t>(i), names[i]) ==
                   names.begin() + static_cast<std::ptrdiff_t>(i),
               invalid_argument, "[make_csv_dataset] two columns have the name \"{}\"", names[i]);

  // Which columns, in the order of the file.
  std::vector<std::int64_t> columns;
  for (const std::string& wanted : o.select_columns) {
    const auto found = std::find(names.begin(), names.end(), wanted);
    RILL_CHECK(found != names.end(), invalid_argument,
               "[make_csv_dataset] select_columns has \"{}\"; the columns are {}", wanted,
               joined(names));
    columns.push_back(found - names.begin());
  }
  std::sort(columns.begin(), columns.end());
  if (columns.empty())
    for (std::size_t i = 0; i < names.size(); ++i) columns.push_back(static_cast<std::int64_t>(i));
  std::vector<std::string> kept;
  for (std::int64_t c : columns) kept.push_back(names[static_cast<std::size_t>(c)]);
  RILL_CHECK(
      o.label_name.empty() || std::find(kept.begin(), kept.end(), o.label_name) != kept.end(),
      invalid_argument, "[make_csv_dataset] label_name is \"{}\"; the columns are {}", o.label_name,
      joined(kept));

  if (infers) {
    for (std::int64_t c : columns) {
      int kind = 0;
      bool seen = false;
      for (const std::vector<std::string>& row : rows) {
        RILL_CHECK(row.size() == names.size(), invalid_argument,
                   "[make_csv_dataset] a row of \"{}\" has {} fields; expected {}", files[0],
                   row.size(), names.size());
        const std::string& field = row[static_cast<std::size_t>(c)];
        if (field.empty() || field == o.na_value) continue;
        seen = true;
        while (!fits(field, kind)) ++kind;
      }
      o.column_defaults.push_back(default_of(kInferred[seen ? kind : 4]));
    }
  }
  RILL_CHECK(o.column_defaults.size() == columns.size(), invalid_argument,
             "[make_csv_dataset] there are {} column_defaults for {} columns",
             o.column_defaults.size(), columns.size());

  const CsvOptions csv{
      .compression_type = o.compression_type,
      .header = o.header,
      .field_delim = o.field_delim,
      .use_quote_delim = o.use_quote_delim,
      .na_value = o.na_value,
      .select_cols = columns.size() == names.size() ? std::vector<std::int64_t>() : columns};
  Dataset names_of_files = Dataset::from_tensor_slices(constant(files, string));
  if (o.shuffle && files.size() > 1)
    names_of_files =
        names_of_files.shuffle(static_cast<std::int64_t>(files.size()), {.seed = o.shuffle_seed});
  Dataset all = names_of_files.interleave(
      [defaults = o.column_defaults, csv](const Tensor& name) {
        return CsvDataset(name, defaults, csv);
      },
      {.cycle_length = std::max<std::int64_t>(o.num_parallel_reads, 1),
       .num_parallel_calls = o.num_parallel_reads > 1 ? o.num_parallel_reads : 0});
  if (o.shuffle) all = all.shuffle(o.shuffle_buffer_size, {.seed = o.shuffle_seed});
  all = all.repeat(o.num_epochs.value_or(-1));
  // Without an end every batch is whole.
  all = all.batch(batch_size, {.drop_remainder = !o.num_epochs.has_value()});
  return all
      .map([kept, label = o.label_name](const Nest& row) {
        std::vector<std::pair<std::string, Nest>> features;
        Nest labels;
        for (std::size_t i = 0; i < kept.size(); ++i) {
          if (kept[i] == label)
            labels = row.part(i);
          else
            features.emplace_back(kept[i], row.part(i));
        }
        if (label.empty()) return Nest(std::move(features));
        return Nest::make({Nest(std::move(features)), labels});
      })
      .prefetch(o.prefetch_buffer_size);
}

}  // namespace rill::data::experimental
