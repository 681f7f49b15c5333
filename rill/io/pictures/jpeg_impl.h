#pragma once
#include <csetjmp>
#include <cstddef>
#include <cstdio>

#include <jpeglib.h>

// libjpeg reports errors by a jump. It lands in the function that calls the library, which
// therefore holds nothing that would have to be destroyed; objects are held by its callers.
namespace rill::io {

struct JpegTrouble {
  jpeg_error_mgr base;
  std::jmp_buf place;
  char text[JMSG_LENGTH_MAX];
};

[[noreturn]] inline void leave_jpeg(j_common_ptr info) {
  auto* trouble = reinterpret_cast<JpegTrouble*>(info->err);
  info->err->format_message(info, trouble->text);
  std::longjmp(trouble->place, 1);
}
// Warnings are damaged data that could be read nevertheless.
inline jpeg_error_mgr* listen_to_jpeg(JpegTrouble& trouble) {
  jpeg_std_error(&trouble.base);
  trouble.base.error_exit = leave_jpeg;
  trouble.base.output_message = [](j_common_ptr) {};
  trouble.base.emit_message = [](j_common_ptr, int) {};
  trouble.text[0] = 0;
  return &trouble.base;
}

}  // namespace rill::io
