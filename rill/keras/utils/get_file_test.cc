#include "rill/keras/utils/get_file.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>

#include "rill/io/archive.h"
#include "rill/io/digest.h"
#include "rill/io/file.h"
#include "rill/io/zip.h"
#include "tests/checkpoint_files.h"
#include "tests/expect_error.h"
#include "tests/http_server.h"
#include "tests/shows.h"

namespace rill::keras {
namespace {

using testing::expect_error;
using testing::HttpServer;
using utils::get_file;

// sha256 and md5 of "hello\n", by coreutils.
const char* const kSha = "5891b5b522d5df086d0ff0b110fbd9d21bb4fc7163af34d08286a2e846f6be03";
const char* const kMd5 = "b1946ac92492d2347c6235b4d2611184";

std::string answer(const std::string& path) {
  if (path.substr(0, path.find('?')) == "/hello.txt") return HttpServer::page("hello\n");
  if (path == "/moved")
    return "HTTP/1.1 302 Found\r\nLocation: /hello.txt\r\nContent-Length: 5\r\n\r\nhere!";
  if (path == "/to_file")
    return "HTTP/1.1 302 Found\r\nLocation: file:///etc/hostname\r\nContent-Length: 0\r\n\r\n";
  if (path == "/short") return "HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nonly this";
  if (path == "/no_length") return "HTTP/1.1 200 OK\r\nConnection: close\r\n\r\nhello\n";
  if (path == "/closed") return HttpServer::page("no", "403 Forbidden");
  if (path == "/broken") return HttpServer::page("no", "503 Service Unavailable");
  if (path == "/empty") return HttpServer::page("");
  return HttpServer::page("<html>not here</html>", "404 Not Found");
}

struct GetFile : ::testing::Test {
  HttpServer server{answer};
  std::string cache = saving_tests::fresh_folder("get_file");
  utils::GetFileOptions options(const std::string& hash = {}) const {
    return {.file_hash = hash, .cache_dir = cache, .verbose = 0};
  }
  void expect_nothing_stays() const {
    EXPECT_EQ(io::list_folder(cache + "/datasets"), std::vector<std::string>());
  }
};

TEST_F(GetFile, DownloadsOnceIntoTheCache) {
  RILL_SHOWS("D67");
  const std::string path = get_file("h.txt", server.url("/hello.txt"), options());
  EXPECT_EQ(path, cache + "/datasets/h.txt");
  EXPECT_EQ(io::file_contents(path), "hello\n");
  EXPECT_EQ(get_file("h.txt", server.url("/hello.txt"), options(kSha)), path);
  EXPECT_EQ(get_file("h.txt", server.url("/hello.txt"), options(kMd5)), path);
  EXPECT_EQ(server.requests(), 1);
  EXPECT_EQ(io::list_folder(cache + "/datasets"), std::vector<std::string>{"h.txt"});
}

TEST_F(GetFile, TheNameIsThatOfTheUrl) {
  EXPECT_EQ(get_file({}, server.url("/hello.txt?x=/y"), options()), cache + "/datasets/hello.txt");
  expect_error<errors::InvalidArgument>([&] { get_file({}, server.url("/"), options()); },
                                        "give one as fname");
  expect_error<errors::InvalidArgument>([&] { get_file("x", "", options()); }, "origin is empty");
}

TEST_F(GetFile, KerasHomeIsHonoured) {
  setenv("KERAS_HOME", (cache + "/home").c_str(), 1);
  const std::string path =
      get_file("h.txt", server.url("/hello.txt"), {.cache_subdir = "texts", .verbose = 0});
  unsetenv("KERAS_HOME");
  EXPECT_EQ(path, cache + "/home/texts/h.txt");
}

TEST_F(GetFile, SaysWhatTheServerAnswered) {
  expect_error<errors::NotFound>([&] { get_file("a", server.url("/nowhere"), options()); },
                                 "/nowhere: the server answered with HTTP status 404");
  expect_error<errors::NotFound>([&] { get_file("a", server.url("/nowhere"), options()); },
                                 "downloaded by hand and put at " + cache + "/datasets/a");
  expect_error<errors::PermissionDenied>([&] { get_file("a", server.url("/closed"), options()); },
                                         "403");
  expect_error<errors::Unavailable>([&] { get_file("a", server.url("/broken"), options()); },
                                    "503");
  expect_error<errors::InvalidArgument>([&] { get_file("a", "gopher://x/y", options()); },
                                        "gopher://x/y");
  expect_nothing_stays();
}

TEST_F(GetFile, NobodyListening) {
  // A port that was just free.
  std::string url;
  {
    const HttpServer gone(answer);
    url = gone.url("/hello.txt");
  }
  expect_error<errors::Unavailable>([&] { get_file("a", url, options()); },
                                    url + " cannot be read");
  expect_nothing_stays();
}

TEST_F(GetFile, AnAnswerCutShortIsNoFile) {
  expect_error<errors::DataLoss>([&] { get_file("a", server.url("/short"), options()); },
                                 "was cut short after 9 of 100 bytes");
  expect_nothing_stays();
}

TEST_F(GetFile, AWrongChecksumIsNoFile) {
  const std::string wrong(64, '0');
  expect_error<errors::DataLoss>(
      [&] { get_file("a", server.url("/hello.txt"), options(wrong)); },
      std::string("has the sha256 checksum ") + kSha + "; expected " + wrong);
  expect_nothing_stays();
  expect_error<errors::InvalidArgument>(
      [&] { get_file("a", server.url("/hello.txt"), options("12zz")); },
      "\"12zz\" is not an md5 checksum; expected 32 hexadecimal digits");
}

TEST_F(GetFile, ADamagedFileIsDownloadedAgain) {
  io::create_folders(cache + "/datasets");
  io::write_file_atomically(cache + "/datasets/h", "hell");
  // Without a checksum nobody knows.
  EXPECT_EQ(io::file_contents(get_file("h", server.url("/hello.txt"), options())), "hell");
  utils::GetFileOptions o = options();
  o.md5_hash = kMd5;
  EXPECT_EQ(io::file_contents(get_file("h", server.url("/hello.txt"), o)), "hello\n");
  EXPECT_EQ(server.requests(), 1);
}

TEST_F(GetFile, FollowsRedirectionsButNotToFiles) {
  EXPECT_EQ(io::file_contents(get_file("a", server.url("/moved"), options(kSha))), "hello\n");
  expect_error<errors::Unavailable>([&] { get_file("b", server.url("/to_file"), options()); },
                                    "/to_file");
}

TEST_F(GetFile, LengthsThatAreUnknownOrZero) {
  EXPECT_EQ(io::file_contents(get_file("a", server.url("/no_length"), options(kSha))), "hello\n");
  EXPECT_EQ(io::file_contents(get_file("b", server.url("/empty"), options())), "");
}

TEST_F(GetFile, FilesOfThisMachine) {
  const std::string from = cache + "/it is%here";
  io::write_file_atomically(from, "hello\n");
  EXPECT_EQ(io::file_contents(get_file("a", "file://" + cache + "/it%20is%25here", options(kSha))),
            "hello\n");
  expect_error<errors::NotFound>([&] { get_file("b", "file:///no/such/file", options()); },
                                 "/no/such/file");
  expect_error<errors::InvalidArgument>([&] { get_file("b", "file://elsewhere/a", options()); },
                                        "file:///path");
}

TEST_F(GetFile, ManyAtOnce) {
  std::vector<std::thread> threads;
  for (int i = 0; i < 8; ++i)
    threads.emplace_back([&, i] {
      const std::string name = i % 2 ? "one" : "two";
      EXPECT_EQ(io::file_contents(get_file(name, server.url("/hello.txt"), options(kSha))),
                "hello\n");
    });
  for (std::thread& t : threads) t.join();
  EXPECT_EQ(server.requests(), 2);
  EXPECT_EQ(io::list_folder(cache + "/datasets"), (std::vector<std::string>{"one", "two"}));
}

TEST_F(GetFile, ShowsABar) {
  ::testing::internal::CaptureStdout();
  get_file("h", server.url("/hello.txt"), {.cache_dir = cache});
  const std::string out = ::testing::internal::GetCapturedStdout();
  EXPECT_NE(out.find("Downloading data from " + server.url("/hello.txt") + "\n"), out.npos) << out;
  EXPECT_NE(out.find("6/6 [==============================]"), out.npos) << out;
}

TEST_F(GetFile, UnpacksArchives) {
  io::ZipWriter zip;
  zip.add("texts/a.txt", "of a");
  io::write_file_atomically(cache + "/t.zip", zip.finish());
  utils::GetFileOptions o = options();
  o.extract = true;
  EXPECT_EQ(get_file("t.zip", "file://" + cache + "/t.zip", o), cache + "/datasets/t.zip");
  EXPECT_EQ(io::file_contents(cache + "/datasets/texts/a.txt"), "of a");
  o.archive_format = "tar";
  expect_error<errors::DataLoss>([&] { get_file("t.zip", "file://" + cache + "/t.zip", o); },
                                 "t.zip");
}

TEST_F(GetFile, UntarGivesTheFolder) {
  const std::string from = cache + "/made";
  io::create_folders(from + "/photos/roses");
  io::write_file_atomically(from + "/photos/roses/1.txt", "a rose");
  ASSERT_EQ(std::system(("tar -czf " + cache + "/photos.tar.gz -C " + from + " photos").c_str()),
            0);
  utils::GetFileOptions o = options();
  o.untar = true;
  const std::string url = "file://" + cache + "/photos.tar.gz";
  for (const char* name : {"photos", "photos.tar.gz", ""}) {
    EXPECT_EQ(get_file(name, url, o), cache + "/datasets/photos");
    EXPECT_EQ(io::file_contents(cache + "/datasets/photos/roses/1.txt"), "a rose");
  }
  expect_error<errors::FailedPrecondition>([&] { get_file("animals", url, o); },
                                           "holds no \"animals\"");
}

}  // namespace
}  // namespace rill::keras
