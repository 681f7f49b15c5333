#pragma once
#include <string>

#include "rill/base/api.h"

namespace rill RILL_API {
namespace io {

// Unpacks a tar (packed by gzip, bzip2, xz or zstd, or not) or zip archive into a folder.
// format: "tar", "zip", or "auto" for either. Everything is unpacked beside the folder first, so
// that a damaged archive leaves nothing behind; then it takes its place, over files of the same
// names.
//
// An archive may write below the folder alone. InvalidArgument, and nothing is unpacked, when it
// holds a path that is absolute or has "..", a link that leads anywhere but further down from
// where it stands, or a device. DataLoss when it is damaged or no such archive.
void extract_archive(const std::string& archive, const std::string& folder,
                     const std::string& format = "auto");

}  // namespace io
}  // namespace RILL_API
