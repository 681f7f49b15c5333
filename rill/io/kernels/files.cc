// Kernels of ops that read and write files.
#include <algorithm>
#include <cstring>

#include "rill/core/kernel.h"
#include "rill/io/file.h"
#include "rill/io/gfile.h"
#include "rill/io/kernels/reporting_impl.h"

namespace rill::io {
namespace {

void read_file_cpu(KernelContext& c) noexcept {
  reporting(c, [&] { *c.out<std::string>() = file_contents(*c.in<std::string>(0)); });
}
RILL_KERNEL("ReadFile", cpu, TypeSet{}, read_file_cpu);

void write_file_cpu(KernelContext& c) noexcept {
  reporting(c, [&] {
    const std::string& path = *c.in<std::string>(0);
    create_folders(folder_of(path));
    write_file_atomically(path, *c.in<std::string>(1));
  });
}
RILL_KERNEL("WriteFile", cpu, TypeSet{}, write_file_cpu);

void matching_files_cpu(KernelContext& c) noexcept {
  reporting(c, [&] {
    std::vector<std::string> found;
    for (std::int64_t i = 0; i < c.in(0).size; ++i)
      for (std::string& path : gfile::glob(c.in<std::string>(0)[i])) found.push_back(path);
    std::sort(found.begin(), found.end());
    auto* out =
        c.allocate<std::string>(0, TensorShape(Dims{static_cast<std::int64_t>(found.size())}));
    if (out) std::move(found.begin(), found.end(), out);
  });
}
RILL_KERNEL("MatchingFiles", cpu, TypeSet{}, matching_files_cpu);

void decode_raw_cpu(KernelContext& c) noexcept {
  const auto* in = c.in<std::string>(0);
  const std::int64_t n = c.in(0).size;
  const std::size_t width = c.type_attr("out_type").itemsize();
  const std::size_t length = n == 0 ? 0 : in[0].size();
  for (std::int64_t i = 0; i < n; ++i)
    if (in[i].size() != length)
      return c.fail(Code::invalid_argument,
                    format("[{}] string {} has {} bytes and string 0 {}; expected the same number",
                           c.tag(), i, in[i].size(), length));
  if (length % width != 0)
    return c.fail(Code::invalid_argument,
                  format("[{}] strings have {} bytes; expected a multiple of {}, the size of {}",
                         c.tag(), length, width, c.type_attr("out_type")));
  Dims shape = c.in_shape(0).dims();
  shape.push_back(static_cast<std::int64_t>(length / width));
  char* out = static_cast<char*>(c.allocate_output(0, TensorShape(shape)));
  if (!out) return;
  const bool swapped = !c.bool_attr("little_endian") && width > 1;
  const std::size_t part = c.type_attr("out_type").is_complex() ? width / 2 : width;
  for (std::int64_t i = 0; i < n; ++i, out += length) {
    std::memcpy(out, in[i].data(), length);
    for (std::size_t k = 0; swapped && k < length; k += part) std::reverse(out + k, out + k + part);
  }
}
RILL_KERNEL("DecodeRaw", cpu, kPlainTypes, decode_raw_cpu);

}  // namespace
}  // namespace rill::io
