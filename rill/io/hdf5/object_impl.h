#pragma once
#include <map>
#include <string>
#include <vector>

#include "rill/io/hdf5/file_impl.h"

// Objects (groups, arrays, named types) are headers: lists of messages, each with a kind.
namespace rill::io::hdf5 {

enum class MessageKind : std::uint16_t {
  nil = 0x00,
  dataspace = 0x01,
  link_info = 0x02,
  datatype = 0x03,
  old_fill_value = 0x04,
  fill_value = 0x05,
  link = 0x06,
  external_files = 0x07,
  layout = 0x08,
  filters = 0x0b,
  attribute = 0x0c,
  continuation = 0x10,
  symbol_table = 0x11,
  attribute_info = 0x15,
};

struct Message {
  MessageKind kind = MessageKind::nil;
  bool shared = false;      // the body only says where the message is
  std::uint64_t place = 0;  // of the body
  std::string body;
};

// All messages of the object whose header is at `address`, except for empty ones.
std::vector<Message> read_messages(const File& file, std::uint64_t address);

// The message itself where `m` only says where it is: in the header of another object.
Message resolved(const File& file, const Message& m);

Cursor cursor_of(const File& file, const Message& m, const char* what);

struct Link {
  enum class Kind : unsigned char { hard, soft, outside } kind = Kind::hard;
  std::uint64_t address = kNowhere;  // hard
  std::string target;                // soft: the path
};
using Links = std::map<std::string, Link>;

// Attributes, not yet decoded: their messages by name.
using Attributes = std::map<std::string, Message>;

struct Object {
  enum class Kind : unsigned char { group, array, other } kind = Kind::other;
  std::uint64_t address = 0;
  std::vector<Message> messages;
  Links links;  // of a group

  const Message* find(MessageKind kind) const;  // null: there is none
};

Object read_object(const File& file, std::uint64_t address);

// What is in a group, whichever of the three forms it has.
Links read_links(const File& file, const Object& group);
Attributes read_attributes(const File& file, const Object& object);

}  // namespace rill::io::hdf5
