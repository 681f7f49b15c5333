#include <cstring>

#include "rill/base/check.h"
#include "rill/io/pickle_impl.h"

namespace rill::io {

namespace {

const char* name_of(Pickle::Kind kind) {
  static const char* const names[] = {
      "None",    "a bool", "a whole number", "a float", "text",       "bytes", "a list",
      "a tuple", "a dict", "an array",       "a dtype", "a function", "a mark"};
  return names[static_cast<std::size_t>(kind)];
}

// Text of UTF-8 as the bytes of Latin-1, which is how old pickles keep bytes. Empty result and
// false where a letter is none of Latin-1.
bool to_latin1(std::string_view s, std::string& out) {
  for (std::size_t i = 0; i < s.size(); ++i) {
    const auto c = static_cast<unsigned char>(s[i]);
    if (c < 0x80) {
      out += s[i];
    } else if ((c == 0xc2 || c == 0xc3) && i + 1 < s.size() &&
               (static_cast<unsigned char>(s[i + 1]) & 0xc0) == 0x80) {
      out += static_cast<char>((c & 3) << 6 | (static_cast<unsigned char>(s[++i]) & 0x3f));
    } else {
      return false;
    }
  }
  return true;
}

}  // namespace

Pickle::Pickle(std::string_view bytes, std::string name) : bytes_(bytes), name_(std::move(name)) {
  RILL_CHECK(bytes.size() < UINT32_MAX, unimplemented, "[pickle] {} has {} bytes; 4 GiB are read",
             name_, bytes.size());
  run();
}

void Pickle::damaged(std::string_view what) const {
  RILL_FAIL(data_loss, "[pickle] {} is damaged at byte {} of its pickle: {}", name_, begin_, what);
}

// ---- the bytes
std::string_view Pickle::take(std::uint64_t n) {
  if (n > bytes_.size() - at_) damaged("it ends too early");
  const std::string_view s = bytes_.substr(at_, static_cast<std::size_t>(n));
  at_ += static_cast<std::size_t>(n);
  return s;
}
std::uint64_t Pickle::number(int count) {
  std::uint64_t v = 0;
  const std::string_view s = take(static_cast<std::uint64_t>(count));
  for (int i = count; i-- > 0;)
    v = v << 8 | static_cast<unsigned char>(s[static_cast<std::size_t>(i)]);
  return v;
}
std::string_view Pickle::line() {
  const std::size_t end = bytes_.find('\n', at_);
  if (end == bytes_.npos) damaged("a name does not end");
  const std::string_view s = bytes_.substr(at_, end - at_);
  at_ = end + 1;
  return s;
}

// ---- the stack
void Pickle::push(Kind kind, std::int64_t v) {
  Value value;
  value.kind = kind;
  value.integer = v;
  stack_.push_back(value);
}
void Pickle::push_text(Kind kind, std::string_view s) {
  push(kind);
  stack_.back().index = static_cast<std::uint32_t>(texts_.size());
  texts_.push_back(s);
}
void Pickle::push_items(Kind kind, std::vector<Value> items) {
  push(kind);
  stack_.back().index = static_cast<std::uint32_t>(items_.size());
  items_.push_back(std::move(items));
}
Pickle::Value Pickle::pop() {
  if (stack_.empty() || stack_.back().kind == Kind::mark) damaged("the stack is empty");
  const Value v = stack_.back();
  stack_.pop_back();
  return v;
}
std::vector<Pickle::Value> Pickle::pop_to_mark() {
  std::size_t from = stack_.size();
  while (from > 0 && stack_[from - 1].kind != Kind::mark) --from;
  if (from == 0) damaged("there is no mark");
  std::vector<Value> items(stack_.begin() + static_cast<std::ptrdiff_t>(from), stack_.end());
  stack_.resize(from - 1);
  return items;
}
std::vector<Pickle::Value>& Pickle::list_on_top(Kind kind) {
  if (stack_.empty() || stack_.back().kind != kind)
    damaged(format("expected {} on the stack", name_of(kind)));
  return items_[stack_.back().index];
}

// ---- functions, as far as arrays need them
void Pickle::push_function(std::string_view module, std::string_view name) {
  const auto known = [&](Function f) {
    push(Kind::function), stack_.back().index = static_cast<std::uint32_t>(f);
  };
  const bool multiarray = module == "numpy.core.multiarray" || module == "numpy._core.multiarray";
  if (multiarray && name == "_reconstruct") return known(Function::reconstruct);
  if (module == "numpy" && name == "ndarray") return known(Function::ndarray);
  if (module == "numpy" && name == "dtype") return known(Function::dtype);
  if (module == "_codecs" && name == "encode") return known(Function::encode);
  RILL_FAIL(unimplemented,
            "[pickle] {} names {}.{} at byte {} of its pickle; only lists, numbers, texts and "
            "arrays of NumPy are read, and nothing is run",
            name_, module, name, begin_);
}

void Pickle::reduce() {
  const Value arguments = pop(), function = pop();
  if (function.kind != Kind::function || arguments.kind != Kind::tuple)
    damaged("a call of what is not a function");
  const std::vector<Value>& a = items_[arguments.index];
  switch (static_cast<Function>(function.index)) {
    case Function::reconstruct:
      // The type, a shape and a dtype that do not count: what follows sets them all.
      if (a.size() != 3 || a[0].kind != Kind::function ||
          static_cast<Function>(a[0].index) != Function::ndarray)
        damaged("_reconstruct of what is not an array");
      push(Kind::array);
      stack_.back().index = static_cast<std::uint32_t>(arrays_.size());
      arrays_.emplace_back();
      return;
    case Function::dtype: {
      if (a.empty() || (a[0].kind != Kind::text && a[0].kind != Kind::bytes))
        damaged("a dtype without a name");
      push(Kind::dtype);
      stack_.back().index = static_cast<std::uint32_t>(dtypes_.size());
      dtypes_.push_back({std::string(text_of(a[0])), '|'});
      return;
    }
    case Function::encode: {
      std::string bytes;
      if (a.size() != 2 || a[0].kind != Kind::text || a[1].kind != Kind::text ||
          text_of(a[1]) != "latin1" || !to_latin1(text_of(a[0]), bytes))
        damaged("bytes that are not kept as Latin-1");
      // A short pickle may not make long bytes of one text again and again.
      made_bytes_ += bytes.size();
      if (made_bytes_ > bytes_.size()) damaged("more bytes than it holds");
      made_.push_back(std::move(bytes));
      return push_text(Kind::bytes, made_.back());
    }
    default:
      damaged("a call of a type");
  }
}

// What __setstate__ is given.
void Pickle::build() {
  const Value state = pop();
  if (stack_.empty() || state.kind != Kind::tuple) damaged("a state that is not a tuple");
  const std::vector<Value>& s = items_[state.index];
  const Value& object = stack_.back();
  if (object.kind == Kind::dtype) {
    if (s.size() < 2 || (s[1].kind != Kind::text && s[1].kind != Kind::bytes) ||
        text_of(s[1]).size() != 1)
      damaged("the state of a dtype");
    dtypes_[object.index].order = text_of(s[1])[0];
    return;
  }
  if (object.kind != Kind::array || s.size() != 5 || s[1].kind != Kind::tuple ||
      items_[s[1].index].size() > 64 || s[2].kind != Kind::dtype || s[3].kind != Kind::boolean)
    damaged("the state of what is not an array");
  Array& array = arrays_[object.index];
  array.shape = ints_of(s[1]);
  std::uint64_t elements = 1;
  for (const std::int64_t n : array.shape) {
    if (n < 0 || __builtin_mul_overflow(elements, static_cast<std::uint64_t>(n), &elements))
      damaged("an array of impossible shape");
  }
  const DTypeState& dtype = dtypes_[s[2].index];
  RILL_CHECK(dtype.order != '>', unimplemented, "[pickle] {} holds a big-endian array", name_);
  RILL_CHECK(s[3].integer == 0 || array.shape.size() < 2, unimplemented,
             "[pickle] {} holds an array in Fortran order", name_);
  array.dtype = dtype.name;
  if (dtype.name.starts_with("O")) array.dtype = "O";
  array.data = s[4];
  if (array.dtype == "O") {
    if (s[4].kind != Kind::list || items_[s[4].index].size() != elements)
      damaged("an array of objects without as many of them");
  } else {
    const std::string digits = dtype.name.size() > 1 ? dtype.name.substr(1) : "";
    const std::uint64_t size = digits.size() == 1 && digits[0] >= '1' && digits[0] <= '8'
                                   ? static_cast<std::uint64_t>(digits[0] - '0')
                                   : 0;
    RILL_CHECK(size > 0, unimplemented, "[pickle] {} holds an array of dtype {}", name_,
               dtype.name);
    if ((s[4].kind != Kind::bytes && s[4].kind != Kind::text) ||
        text_of(s[4]).size() / size != elements || text_of(s[4]).size() % size != 0)
      damaged("an array without as many bytes as its shape needs");
  }
}

// ---- the machine. Letters are those of Python's pickletools.
void Pickle::run() {
  for (;;) {
    begin_ = at_;
    const auto op = static_cast<unsigned char>(take(1)[0]);
    switch (op) {
      case 0x80: {  // PROTO
        const std::uint64_t version = number(1);
        RILL_CHECK(version >= 2 && version <= 5, unimplemented,
                   "[pickle] {} has protocol {}; 2 to 5 are read", name_, version);
        break;
      }
      case 0x95:  // FRAME
        number(8);
        break;
      case '.':  // STOP
        root_ = pop();
        return;
      case '(':  // MARK
        push(Kind::mark);
        break;
      case '0':  // POP
        if (stack_.empty()) damaged("the stack is empty");
        stack_.pop_back();
        break;
      case '1':  // POP_MARK
        pop_to_mark();
        break;
      case 'N':  // NONE
        push(Kind::none);
        break;
      case 0x88:  // NEWTRUE
        push(Kind::boolean, 1);
        break;
      case 0x89:  // NEWFALSE
        push(Kind::boolean, 0);
        break;
      case 'K':  // BININT1
        push(Kind::integer, static_cast<std::int64_t>(number(1)));
        break;
      case 'M':  // BININT2
        push(Kind::integer, static_cast<std::int64_t>(number(2)));
        break;
      case 'J':  // BININT
        push(Kind::integer, static_cast<std::int32_t>(number(4)));
        break;
      case 0x8a: {  // LONG1: two's complement of as many bytes
        const int n = static_cast<int>(number(1));
        RILL_CHECK(n <= 8, unimplemented, "[pickle] {} holds a number of {} bytes", name_, n);
        std::uint64_t v = number(n);
        if (n > 0 && n < 8 && (v >> (8 * n - 1) & 1)) v |= ~std::uint64_t{0} << (8 * n);
        push(Kind::integer, static_cast<std::int64_t>(v));
        break;
      }
      case 'G': {  // BINFLOAT: big-endian
        std::uint64_t v = 0;
        for (const char c : take(8)) v = v << 8 | static_cast<unsigned char>(c);
        push(Kind::number);
        std::memcpy(&stack_.back().number, &v, 8);
        break;
      }
      case 'X':  // BINUNICODE
        push_text(Kind::text, take(number(4)));
        break;
      case 0x8c:  // SHORT_BINUNICODE
        push_text(Kind::text, take(number(1)));
        break;
      case 0x8d:  // BINUNICODE8
        push_text(Kind::text, take(number(8)));
        break;
      case 'T':  // BINSTRING, of Python 2
      case 'B':  // BINBYTES
        push_text(Kind::bytes, take(number(4)));
        break;
      case 'U':  // SHORT_BINSTRING, of Python 2
      case 'C':  // SHORT_BINBYTES
        push_text(Kind::bytes, take(number(1)));
        break;
      case 0x8e:  // BINBYTES8
        push_text(Kind::bytes, take(number(8)));
        break;
      case ']':  // EMPTY_LIST
        push_items(Kind::list, {});
        break;
      case ')':  // EMPTY_TUPLE
        push_items(Kind::tuple, {});
        break;
      case '}':  // EMPTY_DICT
        push_items(Kind::dict, {});
        break;
      case 'a': {  // APPEND
        const Value v = pop();
        list_on_top(Kind::list).push_back(v);
        break;
      }
      case 'e': {  // APPENDS
        const std::vector<Value> more = pop_to_mark();
        std::vector<Value>& list = list_on_top(Kind::list);
        list.insert(list.end(), more.begin(), more.end());
        break;
      }
      case 's': {  // SETITEM
        const Value v = pop(), key = pop();
        std::vector<Value>& dict = list_on_top(Kind::dict);
        dict.push_back(key);
        dict.push_back(v);
        break;
      }
      case 'u': {  // SETITEMS
        const std::vector<Value> more = pop_to_mark();
        if (more.size() % 2) damaged("a key without a value");
        std::vector<Value>& dict = list_on_top(Kind::dict);
        dict.insert(dict.end(), more.begin(), more.end());
        break;
      }
      case 't':  // TUPLE
        push_items(Kind::tuple, pop_to_mark());
        break;
      case 0x85:  // TUPLE1, 2, 3
      case 0x86:
      case 0x87: {
        std::vector<Value> items(static_cast<std::size_t>(op - 0x84));
        for (std::size_t i = items.size(); i-- > 0;) items[i] = pop();
        push_items(Kind::tuple, std::move(items));
        break;
      }
      case 'c': {  // GLOBAL
        const std::string_view module = line();
        push_function(module, line());
        break;
      }
      case 0x93: {  // STACK_GLOBAL
        const Value name = pop(), module = pop();
        if (name.kind != Kind::text || module.kind != Kind::text)
          damaged("a name that is not a text");
        push_function(text_of(module), text_of(name));
        break;
      }
      case 'R':  // REDUCE
        reduce();
        break;
      case 'b':  // BUILD
        build();
        break;
      case 'q':     // BINPUT
      case 'r':     // LONG_BINPUT
      case 0x94: {  // MEMOIZE
        if (stack_.empty() || stack_.back().kind == Kind::mark) damaged("nothing to keep");
        const auto key = static_cast<std::uint32_t>(op == 0x94  ? memo_.size()
                                                    : op == 'q' ? number(1)
                                                                : number(4));
        memo_[key] = stack_.back();
        break;
      }
      case 'h':    // BINGET
      case 'j': {  // LONG_BINGET
        const auto found = memo_.find(static_cast<std::uint32_t>(number(op == 'h' ? 1 : 4)));
        if (found == memo_.end()) damaged("a value that was not kept");
        stack_.push_back(found->second);
        break;
      }
      default:
        RILL_FAIL(unimplemented,
                  "[pickle] {} has the instruction {} at byte {} of its pickle; only lists, "
                  "numbers, texts and arrays of NumPy are read, and nothing is run",
                  name_, static_cast<int>(op), begin_);
    }
  }
}

// ---- values
std::string_view Pickle::text_of(const Value& v) const {
  if (v.kind != Kind::text && v.kind != Kind::bytes)
    damaged(format("{} where text was expected", name_of(v.kind)));
  return texts_[v.index];
}
const std::vector<Pickle::Value>& Pickle::items_of(const Value& v) const {
  if (v.kind != Kind::list && v.kind != Kind::tuple)
    damaged(format("{} where a list was expected", name_of(v.kind)));
  return items_[v.index];
}
Pickle::Value Pickle::at(const Value& dict, std::string_view key) const {
  if (dict.kind != Kind::dict) damaged(format("{} where a dict was expected", name_of(dict.kind)));
  const std::vector<Value>& items = items_[dict.index];
  for (std::size_t i = items.size(); i >= 2; i -= 2) {
    const Value& k = items[i - 2];
    if ((k.kind == Kind::text || k.kind == Kind::bytes) && texts_[k.index] == key)
      return items[i - 1];
  }
  RILL_FAIL(data_loss, "[pickle] {} has no \"{}\"", name_, key);
}
const Pickle::Array& Pickle::array_of(const Value& v) const {
  if (v.kind != Kind::array || arrays_[v.index].dtype.empty())
    damaged(format("{} where an array was expected", name_of(v.kind)));
  return arrays_[v.index];
}
std::vector<std::int64_t> Pickle::ints_of(const Value& list) const {
  std::vector<std::int64_t> v;
  const std::vector<Value>& items = items_of(list);
  v.reserve(items.size());
  for (const Value& i : items) {
    if (i.kind != Kind::integer)
      damaged(format("{} where a whole number was expected", name_of(i.kind)));
    v.push_back(i.integer);
  }
  return v;
}

}  // namespace rill::io
