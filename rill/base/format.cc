#include "rill/base/format.h"

#include <fmt/format.h>

#include <iterator>

#include "rill/base/error.h"

namespace rill {
namespace {

template <class T>
void append(std::string& out, const T& value, std::string_view spec) {
  std::string field = "{:";
  field += spec;
  field += '}';
  try {
    fmt::vformat_to(std::back_inserter(out), field, fmt::make_format_args(value));
  } catch (const fmt::format_error& e) {
    throw errors::InvalidArgument("[format] cannot apply the specification \"" + std::string(spec) +
                                  "\": " + e.what());
  }
}

[[noreturn]] void bad(std::string_view text, const char* why) {
  throw errors::InvalidArgument("[format] " + std::string(why) + " in \"" + std::string(text) +
                                "\"");
}

}  // namespace

void append_number(std::string& out, const FormatArg& a, std::string_view spec) {
  switch (a.kind) {
    case FormatArg::Kind::boolean:
      append(out, a.u.i != 0, spec);
      break;
    case FormatArg::Kind::integer:
      append(out, a.u.i, spec);
      break;
    case FormatArg::Kind::unsigned_integer:
      append(out, a.u.n, spec);
      break;
    case FormatArg::Kind::floating:
      if (a.single && spec.empty())
        append(out, static_cast<float>(a.u.d), spec);
      else
        append(out, a.u.d, spec);
      break;
    case FormatArg::Kind::text:
      append(out, a.text, spec);
      break;
    case FormatArg::Kind::custom:
      a.custom(out, a.u.p, spec);
      break;
  }
}

std::string vformat(std::string_view text, std::initializer_list<FormatArg> args) {
  std::string out;
  std::size_t next = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (c == '}') {
      if (i + 1 >= text.size() || text[i + 1] != '}') bad(text, "single '}'");
      ++i;
    }
    if (c != '{') {
      out += c;
      continue;
    }
    if (i + 1 < text.size() && text[i + 1] == '{') {
      out += '{', ++i;
      continue;
    }
    const std::size_t end = text.find('}', i);
    if (end == std::string_view::npos) bad(text, "unclosed '{'");
    std::string_view field = text.substr(i + 1, end - i - 1), spec;
    if (const auto colon = field.find(':'); colon != std::string_view::npos) {
      spec = field.substr(colon + 1);
      field = field.substr(0, colon);
    }
    std::size_t index = next++;
    if (!field.empty()) {
      index = 0;
      for (char d : field) {
        if (d < '0' || d > '9') bad(text, "only positional fields are supported: '{name}'");
        index = index * 10 + static_cast<std::size_t>(d - '0');
      }
    }
    if (index >= args.size()) bad(text, "more fields than arguments");
    append_number(out, args.begin()[index], spec);
    i = end;
  }
  return out;
}

}  // namespace rill
