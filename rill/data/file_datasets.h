#pragma once
#include <optional>
#include <string>
#include <vector>

#include "rill/data/dataset.h"
#include "rill/data/filenames.h"
#include "rill/ops/io_ops.h"

// Files as datasets. These are functions that return a Dataset; their names and arguments are those
// of tf.data. Errors name the file and the place: NotFound for a file that is missing, DataLoss for
// one that is damaged. After such an error the next element is of the next file.
namespace rill RILL_API {
namespace data {

struct TextLineOptions {
  std::string compression_type = {};  // "", "ZLIB", "GZIP" or "SNAPPY"
  std::int64_t buffer_size = 0;       // accepted; files are read 256 kB at a time
  // So many files in turns, a line of each, read ahead by as many threads; AUTOTUNE: as many files
  // as there are cores, and as many threads as are of use (InterleaveOptions).
  std::int64_t num_parallel_reads = 0;
  std::string name = {};
};
using TFRecordOptions = TextLineOptions;

// The lines of text files, as string scalars, without their ends ("\n" and "\r\n").
Dataset TextLineDataset(const Filenames& filenames, TextLineOptions options = {});
// The records of TFRecord files, as string scalars.
Dataset TFRecordDataset(const Filenames& filenames, TFRecordOptions options = {});

struct FixedLengthOptions {
  std::int64_t header_bytes = 0, footer_bytes = 0;  // to pass over in each file
  std::int64_t buffer_size = 0;
  std::string compression_type = {};
  std::int64_t num_parallel_reads = 0;
  std::string name = {};
};
// Records of `record_bytes` bytes each. DataLoss where a file does not end with one.
Dataset FixedLengthRecordDataset(const Filenames& filenames, std::int64_t record_bytes,
                                 FixedLengthOptions options = {});

using io::RecordDefault;
struct CsvOptions {
  std::string compression_type = {};
  std::int64_t buffer_size = 0;
  bool header = false;  // the first row of each file is passed over
  std::string field_delim = ",";
  bool use_quote_delim = true;  // fields may be quoted, and then hold delimiters and lines
  std::string na_value = {};    // stands for an empty field, too
  std::vector<std::int64_t> select_cols = {}, exclude_cols = {};  // by number, in order
};
// The rows of CSV files: tuples of scalars, one per column. InvalidArgument, with file, line and
// column, for a row that is not as `record_defaults` says; the next element is then of the next
// row.
Dataset CsvDataset(const Filenames& filenames, const std::vector<RecordDefault>& record_defaults,
                   CsvOptions options = {});

namespace experimental {
using data::CsvDataset;
struct MakeCsvOptions {
  std::vector<std::string> column_names = {};       // none: the header of the first file
  std::vector<RecordDefault> column_defaults = {};  // of the columns kept; none: found out
  std::string label_name = {};                      // none: elements have no labels
  std::vector<std::string> select_columns = {};     // none: all
  std::string field_delim = ",";
  bool use_quote_delim = true;
  std::string na_value = {};
  bool header = true;
  std::optional<std::int64_t> num_epochs = {};  // none: without end
  bool shuffle = true;
  std::int64_t shuffle_buffer_size = 10000;
  std::int64_t shuffle_seed = -1;
  std::int64_t prefetch_buffer_size = AUTOTUNE;
  std::int64_t num_parallel_reads = 1;
  std::int64_t num_rows_for_inference = 100;
  std::string compression_type = {};
};
// Batches of the rows of all files that match: dicts of columns by name, or (dict, labels). Columns
// without a default are int32, int64, float32, float64 or string, by the first rows of the first
// file, with 0 or "" for empty fields.
Dataset make_csv_dataset(const Filenames& file_pattern, std::int64_t batch_size,
                         MakeCsvOptions options = {});
}  // namespace experimental

}  // namespace data
namespace contrib::data {
using rill::data::CsvDataset;
}
}  // namespace RILL_API
