#pragma once
#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <vector>

#include "rill/io/compression_impl.h"

// Rows of CSV text, cut into fields, and fields read as numbers.
namespace rill::io {

struct CsvSyntax {
  char delimiter = ',';
  bool quotes = true;
  std::string na_value;
  std::vector<std::int64_t> columns;  // those that are wanted, in order; none: all
};
// InvalidArgument, in the name of `tag`, for a delimiter of several letters and columns that are
// not in order.
CsvSyntax csv_syntax(std::string_view tag, std::string_view delimiter, bool quotes,
                     std::string na_value, std::vector<std::int64_t> columns);

// What is wrong with a row, and in which of its fields.
struct CsvTrouble {
  std::int64_t field = 0;
  std::string text;
};

// Cuts rows into fields. Used by one thread at a time.
class CsvRow {
 public:
  explicit CsvRow(const CsvSyntax& syntax) : syntax_(syntax) {}
  // The fields of `row`, which has no line end; those that are wanted, if columns are named. Empty
  // where the row is right. They are valid as long as the row, and until the next call.
  bool split(std::string_view row, CsvTrouble* trouble);
  const std::vector<std::string_view>& fields() const { return fields_; }
  std::int64_t width() const { return width_; }  // of all fields, wanted or not
  // The number in the row of the i-th wanted field.
  std::int64_t number_of(std::size_t i) const {
    return syntax_.columns.empty() ? static_cast<std::int64_t>(i) : syntax_.columns[i];
  }
  bool is_missing(std::string_view field) const {
    return field.empty() || (!syntax_.na_value.empty() && field == syntax_.na_value);
  }

 private:
  // Reads the quoted field that begins at `at`; moves `at` behind it.
  bool unquoted(std::string_view row, std::size_t* at, std::string_view* field, std::string* why);
  void keep(std::string_view field);
  const CsvSyntax& syntax_;
  std::vector<std::string_view> fields_;
  std::deque<std::string> unescaped_;
  std::int64_t width_ = 0;
};

// Where the row that begins `text` ends: at "\n", "\r" or "\r\n" outside of quotes. npos: it does
// not end in it. `*next` is where the next row begins.
std::size_t csv_row_end(std::string_view text, const CsvSyntax& syntax, std::size_t* next);

// Takes the next row of a file, without its end; null at the end of the file. Valid until the file
// is read again.
std::string_view next_csv_row(UnpackingFile& file, const CsvSyntax& syntax);

// False where `field` is no such number.
bool parse_field(std::string_view field, std::int32_t* value);
bool parse_field(std::string_view field, std::int64_t* value);
bool parse_field(std::string_view field, float* value);
bool parse_field(std::string_view field, double* value);

}  // namespace rill::io
