#include "rill/keras/config.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <ostream>

#include <yaml-cpp/yaml.h>

#include "rill/base/check.h"
#include "rill/base/nearest.h"
#include "rill/core/array_format.h"

namespace rill::keras {

Config::Config(const TensorShape& shape) {
  if (!shape.has_rank()) return;
  kind_ = Kind::list;
  for (int i = 0; i < shape.rank(); ++i)
    items_.push_back(shape.dim(i) < 0 ? Config() : Config(shape.dim(i)));
}

Config Config::list(std::vector<Config> items) {
  Config c;
  c.kind_ = Kind::list;
  c.items_ = std::move(items);
  return c;
}

Config Config::dict(std::initializer_list<std::pair<std::string_view, Config>> items) {
  Config c;
  c.kind_ = Kind::dict;
  for (const auto& [key, value] : items) c.set(key, value);
  return c;
}

namespace {

[[noreturn]] void wrong_kind(const Config& c, const char* expected) {
  std::string text = c.to_json();
  if (text.size() > 200) text = text.substr(0, 200) + "...";
  RILL_FAIL(invalid_argument, "[config] got {}; expected {}", text, expected);
}

}  // namespace

bool Config::as_bool() const {
  if (kind_ == Kind::boolean || kind_ == Kind::integer) return integer_ != 0;
  wrong_kind(*this, "true or false");
}
std::int64_t Config::as_int() const {
  if (kind_ == Kind::integer || kind_ == Kind::boolean) return integer_;
  if (kind_ == Kind::number && number_ == static_cast<double>(static_cast<std::int64_t>(number_)))
    return static_cast<std::int64_t>(number_);
  wrong_kind(*this, "a whole number");
}
double Config::as_double() const {
  if (kind_ == Kind::number) return number_;
  if (kind_ == Kind::integer) return static_cast<double>(integer_);
  wrong_kind(*this, "a number");
}
const std::string& Config::as_string() const {
  if (kind_ == Kind::text) return text_;
  wrong_kind(*this, "a text");
}
TensorShape Config::as_shape() const {
  if (kind_ == Kind::null) return {};
  if (kind_ == Kind::integer) return TensorShape({integer_});
  if (kind_ != Kind::list) wrong_kind(*this, "a list of sizes");
  TensorShape shape = TensorShape::scalar();
  for (const Config& i : items_) shape.push_back(i.is_null() ? -1 : i.as_int());
  return shape;
}
std::vector<std::int64_t> Config::as_ints() const {
  if (is_number()) return {as_int()};
  if (kind_ != Kind::list) wrong_kind(*this, "a list of whole numbers");
  std::vector<std::int64_t> v;
  for (const Config& i : items_) v.push_back(i.as_int());
  return v;
}

const Config& Config::operator[](std::size_t i) const& {
  RILL_CHECK(i < items_.size(), out_of_range, "[config] item {} of {}", i, items_.size());
  return items_[i];
}
void Config::push_back(Config item) {
  if (kind_ == Kind::null) kind_ = Kind::list;
  if (kind_ != Kind::list) wrong_kind(*this, "a list");
  items_.push_back(std::move(item));
}

const Config& Config::operator[](std::string_view key) const& {
  const auto at = std::find(keys_.begin(), keys_.end(), key);
  RILL_CHECK(at != keys_.end(), not_found, "[config] there is no \"{}\".{}", key,
             did_you_mean(key, keys_));
  return items_[static_cast<std::size_t>(at - keys_.begin())];
}
bool Config::contains(std::string_view key) const {
  return std::find(keys_.begin(), keys_.end(), key) != keys_.end();
}
const Config& Config::get(std::string_view key) const& {
  static const Config none;
  return contains(key) ? (*this)[key] : none;
}
bool Config::get(std::string_view key, bool otherwise) const {
  const Config& c = get(key);
  return c.is_null() ? otherwise : c.as_bool();
}
std::int64_t Config::get(std::string_view key, int otherwise) const {
  return get(key, static_cast<std::int64_t>(otherwise));
}
std::int64_t Config::get(std::string_view key, std::int64_t otherwise) const {
  const Config& c = get(key);
  return c.is_null() ? otherwise : c.as_int();
}
double Config::get(std::string_view key, double otherwise) const {
  const Config& c = get(key);
  return c.is_null() ? otherwise : c.as_double();
}
std::string Config::get(std::string_view key, const char* otherwise) const {
  const Config& c = get(key);
  return c.is_null() ? otherwise : c.as_string();
}
void Config::set(std::string_view key, Config value) {
  if (kind_ == Kind::null) kind_ = Kind::dict;
  if (kind_ != Kind::dict) wrong_kind(*this, "a dict");
  const auto at = std::find(keys_.begin(), keys_.end(), key);
  if (at != keys_.end()) {
    items_[static_cast<std::size_t>(at - keys_.begin())] = std::move(value);
    return;
  }
  keys_.emplace_back(key);
  items_.push_back(std::move(value));
}
void Config::erase(std::string_view key) {
  const auto at = std::find(keys_.begin(), keys_.end(), key);
  if (at == keys_.end()) return;
  items_.erase(items_.begin() + (at - keys_.begin()));
  keys_.erase(at);
}

RILL_API bool operator==(const Config& a, const Config& b) {
  if (a.is_number() && b.is_number()) return a.as_double() == b.as_double();
  if (a.kind_ != b.kind_) return false;
  if (a.kind_ == Config::Kind::dict) {  // whatever the order
    if (a.size() != b.size()) return false;
    for (const std::string& key : a.keys_)
      if (!b.contains(key) || !(a[key] == b[key])) return false;
    return true;
  }
  return a.integer_ == b.integer_ && a.text_ == b.text_ && a.items_ == b.items_;
}

std::ostream& operator<<(std::ostream& os, const Config& c) { return os << c.to_json(); }

// ---- JSON
namespace {

// A number in the shortest form that reads back as the same, as Python writes it: 1e-07, 0.001.
std::string number_text(double v) {
  if (v != v) return "NaN";
  if (v == v + v && v != 0) return v > 0 ? "Infinity" : "-Infinity";
  return scalar_str({float64, {}, &v});
}

void write_json(const Config& c, int indent, int depth, std::string& out) {
  const auto line = [&](int d) {
    if (indent < 0) return;
    out += '\n';
    out.append(static_cast<std::size_t>(indent * d), ' ');
  };
  switch (c.kind()) {
    case Config::Kind::null:
      out += "null";
      return;
    case Config::Kind::boolean:
      out += c.as_bool() ? "true" : "false";
      return;
    case Config::Kind::integer:
      out += std::to_string(c.as_int());
      return;
    case Config::Kind::number:
      out += number_text(c.as_double());
      return;
    case Config::Kind::text:
      out += nlohmann::json(c.as_string())
                 .dump(-1, ' ', true, nlohmann::json::error_handler_t::replace);
      return;
    case Config::Kind::list:
    case Config::Kind::dict: {
      const bool dict = c.is_dict();
      out += dict ? '{' : '[';
      for (std::size_t i = 0; i < c.size(); ++i) {
        if (i > 0) out += indent < 0 ? ", " : ",";
        line(depth + 1);
        if (dict) {
          write_json(Config(c.keys()[i]), -1, 0, out);
          out += ": ";
        }
        write_json(c.items()[i], indent, depth + 1, out);
      }
      if (c.size() > 0) line(depth);
      out += dict ? '}' : ']';
    }
  }
}

// Builds a Config while the text is read; refuses nesting that no configuration has.
class JsonReader : public nlohmann::json_sax<nlohmann::json> {
 public:
  bool null() override { return add({}); }
  bool boolean(bool v) override { return add(v); }
  bool number_integer(std::int64_t v) override { return add(v); }
  bool number_unsigned(std::uint64_t v) override {
    return v > INT64_MAX ? add(static_cast<double>(v)) : add(static_cast<std::int64_t>(v));
  }
  bool number_float(double v, const std::string&) override { return add(v); }
  bool string(std::string& v) override { return add(v); }
  bool binary(nlohmann::json::binary_t&) override { return false; }
  bool start_object(std::size_t) override { return open(Config::dict()); }
  bool end_object() override { return close(); }
  bool start_array(std::size_t) override { return open(Config::list()); }
  bool end_array() override { return close(); }
  bool key(std::string& k) override {
    keys_.push_back(k);
    return true;
  }
  bool parse_error(std::size_t place, const std::string&,
                   const nlohmann::json::exception& e) override {
    error = format("at byte {}: {}", place, e.what());
    return false;
  }
  Config result;
  std::string error;

 private:
  bool add(Config c) {
    if (open_.empty()) {
      result = std::move(c);
    } else if (open_.back().is_dict()) {
      open_.back().set(keys_.back(), std::move(c));
      keys_.pop_back();
    } else {
      open_.back().push_back(std::move(c));
    }
    return true;
  }
  bool open(Config c) {
    if (open_.size() >= 500) {
      error = "nested more than 500 deep";
      return false;
    }
    open_.push_back(std::move(c));
    return true;
  }
  bool close() {
    Config c = std::move(open_.back());
    open_.pop_back();
    return add(std::move(c));
  }
  std::vector<Config> open_;
  std::vector<std::string> keys_;
};

// Python writes numbers that JSON does not have; its readers take them, so do ours.
std::string without_python_numbers(std::string_view text) {
  std::string out;
  bool quoted = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (quoted && text[i] == '\\' && i + 1 < text.size()) {
      out += text[i++];
    } else if (text[i] == '"') {
      quoted = !quoted;
    } else if (!quoted && text.substr(i, 8) == "Infinity") {
      out += "1e999";
      i += 7;
      continue;
    } else if (!quoted && text.substr(i, 3) == "NaN") {
      out += "null";
      i += 2;
      continue;
    }
    out += text[i];
  }
  return out;
}

}  // namespace

std::string Config::to_json(int indent) const {
  std::string out;
  write_json(*this, indent, 0, out);
  return out;
}

Config Config::from_json(std::string_view text) {
  JsonReader reader;
  const bool odd = text.find("Infinity") != text.npos || text.find("NaN") != text.npos;
  const std::string plain = odd ? without_python_numbers(text) : std::string(text);
  const bool ok = nlohmann::json::sax_parse(plain, &reader);
  RILL_CHECK(ok, invalid_argument, "[json] this is not JSON: {}", reader.error);
  return std::move(reader.result);
}

// ---- YAML
namespace {

void write_yaml(const Config& c, YAML::Emitter& out) {
  switch (c.kind()) {
    case Config::Kind::null:
      out << YAML::Null;
      return;
    case Config::Kind::boolean:
      out << c.as_bool();
      return;
    case Config::Kind::integer:
      out << c.as_int();
      return;
    case Config::Kind::number: {
      // A number always shows that it is not an integer: 1.0, 1.0e-07.
      std::string t = number_text(c.as_double());
      if (t == "NaN") t = ".nan";
      if (t == "Infinity") t = ".inf";
      if (t == "-Infinity") t = "-.inf";
      if (const auto e = t.find('e'); e != t.npos && t.find('.') == t.npos) t.insert(e, ".0");
      out << t;
      return;
    }
    case Config::Kind::text: {
      // Quoted where it would read back as something else.
      const std::string& t = c.as_string();
      static const char* words[] = {"null", "~",  "true", "false", "yes",
                                    "no",   "on", "off",  "y",     "n"};
      std::string lower = t;
      std::transform(lower.begin(), lower.end(), lower.begin(), [](unsigned char ch) {
        return static_cast<char>(ch >= 'A' && ch <= 'Z' ? ch + 32 : ch);
      });
      const bool word = std::any_of(std::begin(words), std::end(words),
                                    [&](const char* w) { return lower == w; });
      const bool number = !t.empty() && t.find_first_not_of("0123456789+-.eE_") == t.npos;
      if (t.empty() || word || number)
        out << YAML::DoubleQuoted << t;
      else
        out << t;
      return;
    }
    case Config::Kind::list:
      if (c.size() == 0) out << YAML::Flow;
      out << YAML::BeginSeq;
      for (const Config& i : c.items()) write_yaml(i, out);
      out << YAML::EndSeq;
      return;
    case Config::Kind::dict:
      if (c.size() == 0) out << YAML::Flow;
      out << YAML::BeginMap;
      for (std::size_t i = 0; i < c.size(); ++i) {
        out << YAML::Key << c.keys()[i] << YAML::Value;
        write_yaml(c.items()[i], out);
      }
      out << YAML::EndMap;
  }
}

// An alias may stand for much, again and again: `left` bounds what a small text unfolds to.
Config read_yaml(const YAML::Node& n, int depth, int& left) {
  RILL_CHECK(depth < 500, invalid_argument, "[yaml] nested more than 500 deep");
  RILL_CHECK(--left > 0, invalid_argument, "[yaml] unfolds to more than a million values");
  if (n.IsSequence()) {
    Config c = Config::list();
    for (const YAML::Node& i : n) c.push_back(read_yaml(i, depth + 1, left));
    return c;
  }
  if (n.IsMap()) {
    Config c = Config::dict();
    for (const auto& item : n)
      c.set(item.first.as<std::string>(), read_yaml(item.second, depth + 1, left));
    return c;
  }
  if (!n.IsScalar()) return {};
  const std::string& t = n.Scalar();
  if (n.Tag() == "!") return t;  // quoted
  if (t == "null" || t == "~" || t.empty()) return {};
  bool b = false;
  if ((t == "true" || t == "false" || t == "True" || t == "False") &&
      YAML::convert<bool>::decode(n, b))
    return b;
  std::int64_t i = 0;
  if (t.find_first_not_of("0123456789+-") == t.npos && YAML::convert<std::int64_t>::decode(n, i))
    return i;
  double d = 0;
  if (YAML::convert<double>::decode(n, d)) return d;
  return t;
}

}  // namespace

std::string Config::to_yaml() const {
  YAML::Emitter out;
  write_yaml(*this, out);
  return std::string(out.c_str()) + "\n";
}

Config Config::from_yaml(std::string_view text) {
  try {
    int left = 1'000'000;
    return read_yaml(YAML::Load(std::string(text)), 0, left);
  } catch (const YAML::Exception& e) {
    RILL_FAIL(invalid_argument, "[yaml] this is not YAML: {}", e.what());
  }
}

}  // namespace rill::keras
