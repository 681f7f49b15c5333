#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace rill {

// A part of one dimension; length -1: all of it, from 0.
struct SliceExtent {
  std::int64_t start = 0, length = -1;
};

// The key of a slice of a variable in a bundle. Its bytes sort as the slices do.
std::string slice_key(std::string_view name, const std::vector<SliceExtent>& extents);

// Numbers whose bytes sort as they do.
void put_ordered(std::string& out, std::uint64_t value);
void put_ordered_signed(std::string& out, std::int64_t value);
void put_ordered(std::string& out, std::string_view text);

}  // namespace rill
