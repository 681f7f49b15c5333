// Text to streams.
#include <cstdio>
#include <mutex>
#include <string>

#include "rill/base/format.h"
#include "rill/core/kernel.h"

namespace rill::cpu {
namespace {

void print_cpu(KernelContext& c) noexcept {
  static std::mutex mutex;  // lines stay whole
  const std::string_view to = c.string_attr("output_stream");
  const std::string text = *c.in<std::string>(0) + std::string(c.string_attr("end"));
  std::lock_guard lock(mutex);
  const bool file = to.starts_with("file://");
  std::FILE* stream = to == "stdout" ? stdout : stderr;
  if (file) stream = std::fopen(std::string(to.substr(7)).c_str(), "a");
  if (!stream)
    return c.fail(Code::not_found, format("[{}] cannot open {} to write to it", c.tag(), to));
  if (to == "log(info)") std::fputs("I ", stream);
  if (to == "log(warning)") std::fputs("W ", stream);
  if (to == "log(error)") std::fputs("E ", stream);
  const bool written =
      std::fwrite(text.data(), 1, text.size(), stream) == text.size() && std::fflush(stream) == 0;
  if (file) std::fclose(stream);
  if (!written) c.fail(Code::data_loss, format("[{}] cannot write to {}", c.tag(), to));
}
RILL_KERNEL("PrintV2", cpu, TypeSet{}, print_cpu);

}  // namespace
}  // namespace rill::cpu
