#pragma once
#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <atomic>
#include <functional>
#include <string>
#include <thread>

namespace rill::testing {

// A server on this machine alone, for tests of downloads. The answer to a path is all that is
// sent, head and body; then the connection is closed.
class HttpServer {
 public:
  using Answer = std::function<std::string(const std::string& path)>;
  explicit HttpServer(Answer answer) : answer_(std::move(answer)) {
    socket_ = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    EXPECT_EQ(::bind(socket_, reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
    EXPECT_EQ(::listen(socket_, 16), 0);
    socklen_t n = sizeof address;
    ::getsockname(socket_, reinterpret_cast<sockaddr*>(&address), &n);
    port_ = ntohs(address.sin_port);
    thread_ = std::thread([this] { serve(); });
  }
  ~HttpServer() {
    ::shutdown(socket_, SHUT_RDWR);
    thread_.join();
    ::close(socket_);
  }
  HttpServer(const HttpServer&) = delete;
  HttpServer& operator=(const HttpServer&) = delete;
  std::string url(const std::string& path) const {
    return "http://127.0.0.1:" + std::to_string(port_) + path;
  }
  int requests() const { return requests_; }

  static std::string page(const std::string& body, const std::string& status = "200 OK") {
    return "HTTP/1.1 " + status + "\r\nContent-Length: " + std::to_string(body.size()) +
           "\r\nConnection: close\r\n\r\n" + body;
  }

 private:
  void serve() {
    for (;;) {
      const int client = ::accept4(socket_, nullptr, nullptr, SOCK_CLOEXEC);
      if (client < 0) return;
      std::string request;
      char part[4096];
      while (request.find("\r\n\r\n") == request.npos) {
        const ssize_t n = ::recv(client, part, sizeof part, 0);
        if (n <= 0) break;
        request.append(part, static_cast<std::size_t>(n));
      }
      ++requests_;
      const std::size_t from = request.find(' ') + 1;
      const std::string reply = answer_(request.substr(from, request.find(' ', from) - from));
      for (std::size_t at = 0; at < reply.size();) {
        const ssize_t n = ::send(client, reply.data() + at, reply.size() - at, MSG_NOSIGNAL);
        if (n <= 0) break;
        at += static_cast<std::size_t>(n);
      }
      ::shutdown(client, SHUT_WR);
      while (::recv(client, part, sizeof part, 0) > 0) {
      }
      ::close(client);
    }
  }
  Answer answer_;
  int socket_ = -1, port_ = 0;
  std::atomic<int> requests_{0};
  std::thread thread_;
};

}  // namespace rill::testing
