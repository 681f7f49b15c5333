#pragma once
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

namespace rill::io {

// What a server sends, piece by piece: the bytes, and how many there will be in all, -1 where the
// server did not say.
using DownloadSink = std::function<void(std::string_view bytes, std::int64_t total)>;

// Reads what an URL names: http, https and ftp by libcurl, which is loaded when it is first
// needed, and file. Redirections are followed. Errors name the URL and what the server answered:
// NotFound for 404 and 410, PermissionDenied for 401 and 403, DataLoss for an answer that was cut
// short, Unavailable where no server answered or it failed, InvalidArgument for another scheme.
// What the sink throws ends the reading and is thrown on.
void download(const std::string& url, const DownloadSink& sink);

}  // namespace rill::io
