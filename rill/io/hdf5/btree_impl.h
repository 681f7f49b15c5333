#pragma once
#include <functional>

#include "rill/io/hdf5/file_impl.h"

// The two kinds of B-trees. We always want all that is in a tree, so we never search.
namespace rill::io::hdf5 {

// ---- version 1: of old groups and chunks
enum class OldBTreeKind : std::uint8_t { group = 0, chunks = 1 };
// Calls for each child of the leaves with the key before it, of `key_size` bytes, and its address.
void each_child(
    const File& file, std::uint64_t root, OldBTreeKind kind, std::uint64_t key_size,
    const std::function<void(Cursor& node, std::string_view key, std::uint64_t child)>& call);

// ---- version 2
enum class BTreeKind : std::uint8_t {
  huge_object = 1,
  link_name = 5,
  attribute_name = 8,
  chunk = 10,
  filtered_chunk = 11,
};
// Calls for each record, in order. A record has the size that the tree's header states.
void each_record(const File& file, std::uint64_t header, BTreeKind kind,
                 const std::function<void(Cursor& record)>& call);

}  // namespace rill::io::hdf5
