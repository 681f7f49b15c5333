#include "rill/io/csv_impl.h"

#include <charconv>
#include <cmath>
#include <cstdlib>
#include <cstring>

#include "rill/base/check.h"

namespace rill::io {

namespace {

std::string_view trimmed(std::string_view s) {
  const auto is_space = [](char c) { return c == ' ' || (c >= '\t' && c <= '\r'); };
  while (!s.empty() && is_space(s.front())) s.remove_prefix(1);
  while (!s.empty() && is_space(s.back())) s.remove_suffix(1);
  if (s.size() > 1 && s[0] == '+' && s[1] != '-') s.remove_prefix(1);
  return s;
}

template <class T>
bool parse_number(std::string_view field, T* value) {
  const std::string_view s = trimmed(field);
  const auto [end, error] = std::from_chars(s.data(), s.data() + s.size(), *value);
  if (error == std::errc() && end == s.data() + s.size() && !s.empty()) return true;
  if constexpr (std::is_floating_point_v<T>) {
    // Numbers that are too large or too small are infinite or 0, as strtod gives them.
    if (error == std::errc::result_out_of_range && end == s.data() + s.size()) {
      const double wide = std::strtod(std::string(s).c_str(), nullptr);
      *value = static_cast<T>(wide);
      return true;
    }
  }
  return false;
}

}  // namespace

bool parse_field(std::string_view field, std::int32_t* v) { return parse_number(field, v); }
bool parse_field(std::string_view field, std::int64_t* v) { return parse_number(field, v); }
bool parse_field(std::string_view field, float* v) { return parse_number(field, v); }
bool parse_field(std::string_view field, double* v) { return parse_number(field, v); }

CsvSyntax csv_syntax(std::string_view tag, std::string_view delimiter, bool quotes,
                     std::string na_value, std::vector<std::int64_t> columns) {
  RILL_CHECK(delimiter.size() == 1, invalid_argument,
             "[{}] field_delim is \"{}\"; expected one letter", tag, delimiter);
  for (std::size_t i = 0; i < columns.size(); ++i)
    RILL_CHECK(columns[i] >= 0 && (i == 0 || columns[i] > columns[i - 1]), invalid_argument,
               "[{}] select_cols[{}] is {}; expected columns from 0 on, each once and in order",
               tag, i, columns[i]);
  return {delimiter[0], quotes, std::move(na_value), std::move(columns)};
}

std::size_t csv_row_end(std::string_view text, const CsvSyntax& syntax, std::size_t* next) {
  const char* const begin = text.data();
  std::size_t at = 0;
  bool quoted = false;
  for (;;) {
    // Most rows have neither quotes nor "\r".
    const auto* newline = static_cast<const char*>(std::memchr(begin + at, '\n', text.size() - at));
    const std::size_t end = newline ? static_cast<std::size_t>(newline - begin) : text.size();
    if (syntax.quotes) {
      for (std::size_t i = at; i < end;) {
        const auto* q = static_cast<const char*>(std::memchr(begin + i, '"', end - i));
        if (!quoted) {
          const std::size_t stop = q ? static_cast<std::size_t>(q - begin) : end;
          if (const auto* r = static_cast<const char*>(std::memchr(begin + i, '\r', stop - i))) {
            const auto here = static_cast<std::size_t>(r - begin);
            if (here + 1 == text.size()) return text.npos;  // "\n" may follow
            *next = here + 1 + (begin[here + 1] == '\n');
            return here;
          }
        }
        if (!q) break;
        // One within a field that is not quoted does not begin anything.
        if (quoted || q == begin || q[-1] == syntax.delimiter) quoted = !quoted;
        i = static_cast<std::size_t>(q - begin) + 1;
      }
    } else if (const auto* r = static_cast<const char*>(std::memchr(begin + at, '\r', end - at))) {
      const auto here = static_cast<std::size_t>(r - begin);
      if (here + 1 == text.size()) return text.npos;
      *next = here + 1 + (begin[here + 1] == '\n');
      return here;
    }
    if (!newline) return text.npos;
    if (!quoted) {
      *next = end + 1;
      return end;
    }
    at = end + 1;
  }
}

std::string_view next_csv_row(UnpackingFile& file, const CsvSyntax& syntax) {
  std::string_view text = file.peek(1);
  if (text.empty()) return {};
  std::size_t next = 0, end;
  while ((end = csv_row_end(text, syntax, &next)) == text.npos) {
    const std::string_view more = file.peek(text.size() + 1);
    const bool is_last = more.size() == text.size();
    text = more;
    if (is_last) {
      end = next = text.size();
      if (text.back() == '\r') --end;
      break;
    }
  }
  file.skip(next);  // the bytes stay where they are until the next peek
  return text.substr(0, end);
}

void CsvRow::keep(std::string_view field) {
  if (syntax_.columns.empty() ||
      (fields_.size() < syntax_.columns.size() && syntax_.columns[fields_.size()] == width_))
    fields_.push_back(field);
  ++width_;
}

bool CsvRow::unquoted(std::string_view row, std::size_t* at, std::string_view* field,
                      std::string* why) {
  const std::size_t first = *at + 1;
  std::string* copy = nullptr;  // only a field with quotes in it needs one
  std::size_t from = first;
  for (;;) {
    const std::size_t quote = row.find('"', from);
    if (quote == row.npos) {
      *why = "a quoted field does not end";
      return false;
    }
    if (quote + 1 < row.size() && row[quote + 1] == '"') {
      if (!copy) {
        copy = &unescaped_.emplace_back();
        copy->assign(row.substr(first, quote + 1 - first));
      } else {
        copy->append(row.substr(from, quote + 1 - from));
      }
      from = quote + 2;
      continue;
    }
    if (copy) copy->append(row.substr(from, quote - from));
    *field = copy ? std::string_view(*copy) : row.substr(first, quote - first);
    *at = quote + 1;
    if (*at == row.size() || row[*at] == syntax_.delimiter) return true;
    *why =
        "a quoted field is followed by other letters; expected a delimiter, and a quote within "
        "quotes twice";
    return false;
  }
}

bool CsvRow::split(std::string_view row, CsvTrouble* trouble) {
  fields_.clear();
  unescaped_.clear();
  width_ = 0;
  for (std::size_t at = 0;;) {
    std::string_view field;
    if (syntax_.quotes && at < row.size() && row[at] == '"') {
      if (!unquoted(row, &at, &field, &trouble->text)) {
        trouble->field = width_;
        return false;
      }
    } else {
      const std::size_t end = std::min(row.find(syntax_.delimiter, at), row.size());
      field = row.substr(at, end - at);
      if (syntax_.quotes && field.find('"') != field.npos) {
        trouble->field = width_;
        trouble->text = "a field that is not quoted has a quote in it";
        return false;
      }
      at = end;
    }
    keep(field);
    if (at == row.size()) return true;
    ++at;  // the delimiter
  }
}

}  // namespace rill::io
