#pragma once
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <exception>
#include <fstream>
#include <functional>
#include <string>

namespace rill::testing {

// A process that works and tells of each step by a byte through a pipe, until it is killed.
class Child {
 public:
  // `work` gets the end of the pipe to write to. What it throws is written to `error`.
  Child(const std::function<void(int pipe)>& work, const std::string& error) {
    int ends[2];
    if (pipe(ends) != 0) std::abort();
    pid_ = fork();
    if (pid_ == 0) {
      close(ends[0]);
      int code = 0;
      try {
        work(ends[1]);
      } catch (const std::exception& e) {
        std::ofstream(error) << e.what();
        code = 2;
      }
      _exit(code);
    }
    close(ends[1]);
    from_ = ends[0];
  }
  ~Child() { close(from_); }
  Child(const Child&) = delete;

  // Waits for the next step. False: it ended first.
  bool step() {
    char c;
    return read(from_, &c, 1) == 1;
  }
  void kill() {
    ::kill(pid_, SIGKILL);
    int status;
    waitpid(pid_, &status, 0);
  }
  // The exit code; -1 after a signal.
  int wait() {
    while (step()) {
    }
    int status = 0;
    waitpid(pid_, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  }

  // Called by the work.
  static void tell(int pipe) {
    if (write(pipe, "b", 1) != 1) _exit(3);
  }

 private:
  pid_t pid_ = 0;
  int from_ = -1;
};

inline std::string text_of(const std::string& path) {
  std::ifstream in(path);
  return {std::istreambuf_iterator<char>(in), {}};
}

}  // namespace rill::testing
