// What tables that never change are made of: two lists, or the lines of a text file.
#include <algorithm>
#include <charconv>
#include <cmath>

#include "rill/base/check.h"
#include "rill/base/logging.h"
#include "rill/ops/array_ops.h"
#include "rill/ops/lookup/table_impl.h"
#include "rill/ops/op_helpers.h"

namespace rill::lookup {

void retain(TableContents* c) noexcept { c->refs.retain(); }
void release(TableContents* c) noexcept {
  if (c->refs.release()) delete c;
}

namespace {

Ref<TableContents> contents_of(const Operand& keys, const Operand& values,
                               const KeyValueOptions& o) {
  const Ref<TableContents> c(new TableContents);
  const auto list = [](const Operand& x, DType dtype) {
    const Tensor t = convert_to_tensor(x, x.is_literal() ? dtype : DType());
    return dtype.defined() && t.dtype() != dtype ? cast(t, dtype) : t;
  };
  c->keys = list(keys, o.key_dtype), c->values = list(values, o.value_dtype);
  c->key_dtype = c->keys.dtype(), c->value_dtype = c->values.dtype();
  RILL_CHECK(kKeyTypes.contains(c->key_dtype), invalid_argument,
             "[KeyValueTensorInitializer] the keys are {}; expected one of {}", c->key_dtype,
             kKeyTypes.to_string());
  const TensorShape &k = c->keys.shape(), &v = c->values.shape();
  RILL_CHECK(!k.has_rank() || (k.rank() <= 1 && k.is_compatible_with(v)), invalid_argument,
             "[KeyValueTensorInitializer] keys have shape {} and values {}; expected two lists of "
             "one length",
             k, v);
  return c;
}

void check_column(int index, DType dtype, const char* what) {
  RILL_CHECK(index >= -2, invalid_argument,
             "[TextFileInitializer] {}_index is {}; expected a column from 0 on, "
             "TextFileIndex::WHOLE_LINE or TextFileIndex::LINE_NUMBER",
             what, index);
  RILL_CHECK(index != TextFileIndex::WHOLE_LINE || dtype == string, invalid_argument,
             "[TextFileInitializer] {}_dtype is {}; expected string for whole lines", what, dtype);
  RILL_CHECK(index != TextFileIndex::LINE_NUMBER || dtype == int64, invalid_argument,
             "[TextFileInitializer] {}_dtype is {}; expected int64 for line numbers", what, dtype);
}

// One column of all lines.
class Column {
 public:
  Column(DType dtype, int index) : dtype_(dtype), index_(index) {}
  // False where the field is no value of the dtype.
  bool add(std::string_view line, const std::vector<std::string_view>& fields,
           std::int64_t number) {
    if (index_ == TextFileIndex::LINE_NUMBER) {
      integers_.push_back(number);
      return true;
    }
    const std::string_view field =
        index_ == TextFileIndex::WHOLE_LINE ? line : fields[static_cast<std::size_t>(index_)];
    if (dtype_ == string) {
      texts_.emplace_back(field);
      return true;
    }
    const char *begin = field.data(), *end = begin + field.size();
    if (dtype_.is_floating()) {
      double x = 0;
      const auto [at, error] = std::from_chars(begin, end, x);
      numbers_.push_back(x);
      return error == std::errc() && at == end;
    }
    std::int64_t x = 0;
    const auto [at, error] = std::from_chars(begin, end, x);
    integers_.push_back(x);
    return error == std::errc() && at == end && (dtype_ != int32 || x == std::int32_t(x));
  }
  Tensor list() const {
    if (dtype_ == string) return reshape(constant(texts_, string), {-1});
    return dtype_.is_floating() ? cast(reshape(constant(numbers_, float64), {-1}), dtype_)
                                : cast(reshape(constant(integers_, int64), {-1}), dtype_);
  }

 private:
  DType dtype_;
  int index_;
  std::vector<std::string> texts_;
  std::vector<std::int64_t> integers_;
  std::vector<double> numbers_;
};

std::vector<std::string_view> fields_of(std::string_view line, char delimiter) {
  std::vector<std::string_view> fields;
  for (std::size_t at = 0;;) {
    const std::size_t next = line.find(delimiter, at);
    fields.push_back(line.substr(at, next - at));
    if (next == line.npos) return fields;
    at = next + 1;
  }
}

}  // namespace

void TableContents::initialize(const Tensor& handle) const {
  if (keys.defined() && (keys.is_symbolic() || values.is_symbolic()))
    return initialize_table(handle, keys, values);  // when the graph runs
  const ScopedContext<&CallContext::executor> now{nullptr};
  const UnrecordedScope unrecorded;
  if (keys.defined())
    initialize_table(handle, keys, values);
  else
    initialize_table_from_file(handle, *this);
}

std::pair<Tensor, Tensor> parse_table_file(const std::string& text, const TableContents& how,
                                           std::string_view tag) {
  RILL_CHECK(how.delimiter.size() == 1, invalid_argument,
             "[{}] delimiter is \"{}\"; expected one character", tag, how.delimiter);
  check_column(how.key_index, how.key_dtype, "key");
  check_column(how.value_index, how.value_dtype, "value");
  Column keys(how.key_dtype, how.key_index), values(how.value_dtype, how.value_index);
  const int columns = std::max(how.key_index, how.value_index) + 1;
  std::int64_t line_number = 0;
  std::string kept;  // a line without carriage returns
  for (std::size_t at = 0; at < text.size(); ++line_number) {
    if (how.vocab_size >= 0 && line_number >= how.vocab_size) {
      RILL_LOG(warning, "[{}] {} has more than vocab_size = {} lines; the rest is left out", tag,
               how.filename, how.vocab_size);
      break;
    }
    std::size_t end = text.find('\n', at);
    if (end == text.npos) end = text.size();
    std::string_view line(text.data() + at, end - at);
    if (line.find('\r') != line.npos) {
      kept.assign(line);
      std::erase(kept, '\r');
      line = kept;
    }
    std::vector<std::string_view> fields;
    if (columns > 0) fields = fields_of(line, how.delimiter[0]);
    RILL_CHECK(static_cast<int>(fields.size()) >= columns, invalid_argument,
               "[{}] {}, line {}: \"{}\" has {} columns; expected at least {}", tag, how.filename,
               line_number + 1, line.substr(0, 80), fields.size(), columns);
    for (auto* column : {&keys, &values})
      RILL_CHECK(column->add(line, fields, line_number + how.offset), invalid_argument,
                 "[{}] {}, line {}: \"{}\" has no {} in column {}", tag, how.filename,
                 line_number + 1, line.substr(0, 80),
                 column == &keys ? how.key_dtype : how.value_dtype,
                 column == &keys ? how.key_index : how.value_index);
    at = end + 1;
  }
  RILL_CHECK(how.vocab_size < 0 || line_number >= how.vocab_size, invalid_argument,
             "[{}] {} has {} lines; expected vocab_size = {}", tag, how.filename, line_number,
             how.vocab_size);
  return {keys.list(), values.list()};
}

TableInitializer::TableInitializer(Ref<TableContents> contents) : contents_(std::move(contents)) {}
DType TableInitializer::key_dtype() const { return contents_->key_dtype; }
DType TableInitializer::value_dtype() const { return contents_->value_dtype; }

KeyValueTensorInitializer::KeyValueTensorInitializer(const Operand& keys, const Operand& values,
                                                     const KeyValueOptions& options)
    : TableInitializer(contents_of(keys, values, options)) {}

TextFileInitializer::TextFileInitializer(const std::string& filename, DType key_dtype,
                                         int key_index, DType value_dtype, int value_index,
                                         const TextFileOptions& o)
    : TableInitializer(Ref<TableContents>(new TableContents)) {
  TableContents& c = *contents_;
  RILL_CHECK(!filename.empty(), invalid_argument,
             "[TextFileInitializer] the name of the file is empty");
  RILL_CHECK(kKeyTypes.contains(key_dtype), invalid_argument,
             "[TextFileInitializer] key_dtype is {}; expected one of {}", key_dtype,
             kKeyTypes.to_string());
  const bool value_fits = value_dtype == string || value_dtype == int32 || value_dtype == int64 ||
                          value_dtype == float32 || value_dtype == float64;
  RILL_CHECK(value_fits, invalid_argument,
             "[TextFileInitializer] value_dtype is {}; expected string, int32, int64, float32 or "
             "float64",
             value_dtype);
  RILL_CHECK(o.vocab_size == -1 || o.vocab_size > 0, invalid_argument,
             "[TextFileInitializer] vocab_size is {}; expected 1 or more, or -1 for all lines",
             o.vocab_size);
  RILL_CHECK(o.delimiter.size() == 1, invalid_argument,
             "[TextFileInitializer] delimiter is \"{}\"; expected one character", o.delimiter);
  check_column(key_index, key_dtype, "key");
  check_column(value_index, value_dtype, "value");
  RILL_CHECK(key_index != value_index, invalid_argument,
             "[TextFileInitializer] key_index and value_index are both {}; expected two columns",
             key_index);
  c.filename = filename, c.delimiter = o.delimiter;
  c.key_dtype = key_dtype, c.value_dtype = value_dtype;
  c.key_index = key_index, c.value_index = value_index;
  c.vocab_size = o.vocab_size, c.offset = o.value_index_offset;
}

}  // namespace rill::lookup
