#include "rill/io/hdf5/heaps_impl.h"

namespace rill::io::hdf5 {

LocalHeap::LocalHeap(const File& file, std::uint64_t address) : file_(file) {
  Cursor c = file.block(address,
                        8 + 2 * static_cast<std::uint64_t>(file.length_size()) +
                            static_cast<std::uint64_t>(file.address_size()),
                        "the heap of a group");
  c.signature("HEAP");
  c.version(0);
  c.skip(3);
  const std::uint64_t size = c.length();
  c.length();  // the first free place
  place_ = c.address();
  Cursor data = file.block(place_, size, "the heap of a group");
  bytes_ = data.take(size);
}

std::string LocalHeap::text(std::uint64_t offset) const {
  const std::size_t end = offset < bytes_.size() ? bytes_.find('\0', offset) : bytes_.npos;
  if (end == bytes_.npos) file_.damaged(place_, "the heap of a group lacks a name");
  file_.spend(end - offset);
  return bytes_.substr(offset, end - offset);
}

const GlobalHeap::Collection& GlobalHeap::collection(std::uint64_t address) {
  const auto [at, is_new] = collections_.try_emplace(address);
  Collection& all = at->second;
  if (!is_new) return all;
  constexpr const char* kWhat = "a heap of texts";
  // Heads of the heap and of its objects have this size: 8 bytes and a length, rounded up.
  constexpr std::uint64_t kHead = 16;
  Cursor head = file_.block(address, kHead, kWhat);
  head.signature("GCOL");
  if (head.u8() != 1) head.damaged("has an unknown version");
  head.skip(3);
  const std::uint64_t size = head.length();
  if (size < kHead) head.damaged("is smaller than its head");
  Cursor c = file_.block(address, size, kWhat);
  c.skip(kHead);
  while (c.left() >= kHead) {
    const std::uint16_t number = c.u16();
    c.skip(6);  // references to it
    const std::uint64_t bytes = c.length();
    if (number == 0) break;  // the rest is free
    c.align8();
    file_.spend(64);
    all.objects[number] = {c.place() - address, bytes};
    c.skip(bytes);
    if (c.left() > 0) c.align8();
  }
  all.bytes = c.all();
  return all;
}

std::string_view GlobalHeap::object(std::uint64_t address, std::uint32_t number) {
  const Collection& all = collection(address);
  const auto found = all.objects.find(number);
  if (found == all.objects.end())
    file_.damaged(address, "a heap of texts lacks one that is referred to");
  return std::string_view(all.bytes).substr(found->second.first, found->second.second);
}

}  // namespace rill::io::hdf5
