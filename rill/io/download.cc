#include <curl/curl.h>

#include <algorithm>
#include <exception>
#include <memory>

#include "rill/base/check.h"
#include "rill/base/version.h"
#include "rill/io/download_impl.h"
#include "rill/io/file.h"
#include "rill/io/loaded_library_impl.h"

namespace rill::io {

namespace {

// libcurl, as far as it is used.
struct CurlLibrary {
  decltype(&::curl_global_init) global_init = nullptr;
  decltype(&::curl_easy_init) easy_init = nullptr;
  decltype(&::curl_easy_cleanup) easy_cleanup = nullptr;
  CURLcode (*easy_setopt)(CURL*, CURLoption, ...) = nullptr;
  CURLcode (*easy_getinfo)(CURL*, CURLINFO, ...) = nullptr;
  decltype(&::curl_easy_perform) easy_perform = nullptr;
  decltype(&::curl_easy_strerror) easy_strerror = nullptr;
  CurlLibrary() {
    const LoadedLibrary library("libcurl.so.4", "a download", "libcurl4");
    library.find(global_init, "curl_global_init");
    library.find(easy_init, "curl_easy_init");
    library.find(easy_cleanup, "curl_easy_cleanup");
    library.find(easy_setopt, "curl_easy_setopt");
    library.find(easy_getinfo, "curl_easy_getinfo");
    library.find(easy_perform, "curl_easy_perform");
    library.find(easy_strerror, "curl_easy_strerror");
    global_init(CURL_GLOBAL_DEFAULT);
  }
};
const CurlLibrary& curl() {
  static const CurlLibrary l;
  return l;
}

struct Transfer {
  const CurlLibrary& lib;
  CURL* handle;
  const DownloadSink& sink;
  std::int64_t received = 0;
  std::exception_ptr error;  // of the sink: it may not pass through C
  long status = 0;

  std::int64_t total() const {
    curl_off_t n = -1;
    lib.easy_getinfo(handle, CURLINFO_CONTENT_LENGTH_DOWNLOAD_T, &n);
    return n;
  }
};

std::size_t take(char* bytes, std::size_t, std::size_t n, void* to) {
  auto& t = *static_cast<Transfer*>(to);
  t.lib.easy_getinfo(t.handle, CURLINFO_RESPONSE_CODE, &t.status);
  if (t.status >= 300) return n;  // the page that explains an error
  try {
    t.received += static_cast<std::int64_t>(n);
    t.sink({bytes, n}, t.total());
    return n;
  } catch (...) {
    t.error = std::current_exception();
    return 0;
  }
}

Code code_of_status(long status) {
  switch (status) {
    case 401:
    case 403:
      return Code::permission_denied;
    case 404:
    case 410:
      return Code::not_found;
    default:
      return Code::unavailable;
  }
}

void by_curl(const std::string& url, const DownloadSink& sink) {
  const CurlLibrary& lib = curl();
  const std::unique_ptr<CURL, decltype(lib.easy_cleanup)> handle(lib.easy_init(), lib.easy_cleanup);
  RILL_CHECK(handle, resource_exhausted, "[download] libcurl cannot begin");
  CURL* h = handle.get();
  Transfer t{lib, h, sink, 0, nullptr, 0};
  char detail[CURL_ERROR_SIZE] = "";
  const std::string agent = std::string("rill/") + version();
  lib.easy_setopt(h, CURLOPT_URL, url.c_str());
  lib.easy_setopt(h, CURLOPT_ERRORBUFFER, detail);
  lib.easy_setopt(h, CURLOPT_USERAGENT, agent.c_str());
  lib.easy_setopt(h, CURLOPT_NOSIGNAL, 1L);
  lib.easy_setopt(h, CURLOPT_FOLLOWLOCATION,
                  1L);  // never from the net to a file: libcurl sees to it
  lib.easy_setopt(h, CURLOPT_MAXREDIRS, 10L);
  lib.easy_setopt(h, CURLOPT_CONNECTTIMEOUT, 30L);
  // A server that sends nothing for a minute will not send more.
  lib.easy_setopt(h, CURLOPT_LOW_SPEED_LIMIT, 1L);
  lib.easy_setopt(h, CURLOPT_LOW_SPEED_TIME, 60L);
  lib.easy_setopt(h, CURLOPT_WRITEFUNCTION, &take);
  lib.easy_setopt(h, CURLOPT_WRITEDATA, static_cast<void*>(&t));
  const CURLcode result = lib.easy_perform(h);
  if (t.error) std::rethrow_exception(t.error);
  lib.easy_getinfo(h, CURLINFO_RESPONSE_CODE, &t.status);
  const std::string why = *detail ? detail : lib.easy_strerror(result);
  RILL_CHECK(result != CURLE_PARTIAL_FILE && !(result == CURLE_RECV_ERROR && t.received > 0),
             data_loss, "[download] {} was cut short after {} of {} bytes: {}", url, t.received,
             t.total() >= 0 ? std::to_string(t.total()) : "an unknown number of", why);
  RILL_CHECK(result == CURLE_OK, unavailable, "[download] {} cannot be read: {}", url, why);
  if (t.status >= 300)
    throw_error(code_of_status(t.status),
                format("[download] {}: the server answered with HTTP status {}", url, t.status));
}

std::string without_percents(std::string_view s) {
  const auto digit = [](char c) {
    return c >= '0' && c <= '9'                 ? c - '0'
           : (c | 32) >= 'a' && (c | 32) <= 'f' ? (c | 32) - 'a' + 10
                                                : -1;
  };
  std::string out;
  for (std::size_t i = 0; i < s.size(); ++i) {
    if (s[i] == '%' && i + 2 < s.size() && digit(s[i + 1]) >= 0 && digit(s[i + 2]) >= 0) {
      out += static_cast<char>(digit(s[i + 1]) * 16 + digit(s[i + 2]));
      i += 2;
    } else {
      out += s[i];
    }
  }
  return out;
}

void by_file(const std::string& url, std::string_view rest, const DownloadSink& sink) {
  // "file:///path" or "file://localhost/path".
  const std::size_t slash = rest.find('/');
  const std::string_view host = rest.substr(0, slash);
  RILL_CHECK(slash != rest.npos && (host.empty() || host == "localhost"), invalid_argument,
             "[download] \"{}\" names no file of this machine; expected file:///path", url);
  const InputFile file(without_percents(rest.substr(slash)));
  std::string part(1 << 18, '\0');
  for (std::uint64_t at = 0;;) {
    const std::size_t n = file.read_some(at, part.data(), part.size());
    if (n == 0) return;
    at += n;
    sink(std::string_view(part).substr(0, n), static_cast<std::int64_t>(file.size()));
  }
}

}  // namespace

void download(const std::string& url, const DownloadSink& sink) {
  const std::size_t colon = url.find("://");
  std::string scheme = url.substr(0, colon == url.npos ? 0 : colon);
  std::transform(scheme.begin(), scheme.end(), scheme.begin(),
                 [](unsigned char c) { return std::tolower(c); });
  if (scheme == "file") return by_file(url, std::string_view(url).substr(colon + 3), sink);
  RILL_CHECK(
      scheme == "http" || scheme == "https" || scheme == "ftp", invalid_argument,
      "[download] \"{}\" is not a URL that can be read; expected http://, https://, ftp:// or "
      "file://",
      url);
  by_curl(url, sink);
}

}  // namespace rill::io
