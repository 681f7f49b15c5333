#include "rill/core/kernel.h"
#include "rill/io/csv_impl.h"

namespace rill::io {
namespace {

// Writes one field, or the default of its column; false where neither is there.
template <class T>
bool put_number(KernelContext& c, int column, std::int64_t row, std::string_view field,
                bool missing) {
  if (!missing) return parse_field(field, c.out<T>(column) + row);
  if (c.in(column + 1).size == 0) return false;
  c.out<T>(column)[row] = *c.in<T>(column + 1);
  return true;
}
bool put(KernelContext& c, int column, std::int64_t row, std::string_view field, bool missing) {
  const DType d = c.out(column).dtype;
  if (d == float32) return put_number<float>(c, column, row, field, missing);
  if (d == float64) return put_number<double>(c, column, row, field, missing);
  if (d == int32) return put_number<std::int32_t>(c, column, row, field, missing);
  if (d == int64) return put_number<std::int64_t>(c, column, row, field, missing);
  if (missing && c.in(column + 1).size == 0) return false;
  c.out<std::string>(column)[row] = missing ? *c.in<std::string>(column + 1) : std::string(field);
  return true;
}

void decode_csv_cpu(KernelContext& c) noexcept {
  CsvSyntax syntax;
  try {
    const std::span<const std::int64_t> columns = c.attr("select_cols").as_ints();
    syntax = csv_syntax(c.tag(), c.string_attr("field_delim"), c.bool_attr("use_quote_delim"),
                        std::string(c.string_attr("na_value")), {columns.begin(), columns.end()});
  } catch (const errors::Error& e) {
    return c.fail(e.code(), e.message());
  }
  const auto columns = static_cast<std::size_t>(c.num_outputs());
  if (!syntax.columns.empty() && syntax.columns.size() != columns)
    return c.fail(Code::invalid_argument,
                  format("[{}] select_cols has {} columns and record_defaults {}; expected as many",
                         c.tag(), syntax.columns.size(), columns));
  CsvRow row(syntax);
  for (std::int64_t r = 0; r < c.in(0).size; ++r) {
    const std::string& text = c.in<std::string>(0)[r];
    std::string_view line = text;
    std::size_t next = 0;
    if (const std::size_t end = csv_row_end(text, syntax, &next); end != line.npos) {
      if (next < text.size())
        return c.fail(Code::invalid_argument,
                      format("[{}] record {} holds more than one row", c.tag(), r));
      line = line.substr(0, end);
    }
    CsvTrouble trouble;
    if (!row.split(line, &trouble))
      return c.fail(Code::invalid_argument, format("[{}] record {}, column {}: {}", c.tag(), r,
                                                   trouble.field, trouble.text));
    const std::vector<std::string_view>& fields = row.fields();
    if (fields.size() != columns)
      return c.fail(Code::invalid_argument, format("[{}] record {} has {} fields; expected {}",
                                                   c.tag(), r, row.width(), columns));
    for (std::size_t i = 0; i < columns; ++i) {
      const bool missing = row.is_missing(fields[i]);
      if (put(c, static_cast<int>(i), r, fields[i], missing)) continue;
      return c.fail(Code::invalid_argument,
                    missing
                        ? format("[{}] record {}, column {}: the field is empty, and the column "
                                 "has no default",
                                 c.tag(), r, row.number_of(i))
                        : format("[{}] record {}, column {}: \"{}\" is no {}", c.tag(), r,
                                 row.number_of(i), fields[i], c.out(static_cast<int>(i)).dtype));
    }
  }
}
RILL_KERNEL("DecodeCSV", cpu, TypeSet{}, decode_csv_cpu);

}  // namespace
}  // namespace rill::io
