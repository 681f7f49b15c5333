#include "rill/base/choice_store.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <utility>

namespace rill {
namespace {

std::string from_environment(const char* name) {
  const char* value = std::getenv(name);
  return value ? value : "";
}

// Others wait: two processes that both read, add and replace would lose a line.
class FileLock {
 public:
  explicit FileLock(const std::string& path)
      : file_(open(path.c_str(), O_CREAT | O_RDWR | O_CLOEXEC, 0644)) {
    if (file_ >= 0 && flock(file_, LOCK_EX) != 0) close(std::exchange(file_, -1));
  }
  ~FileLock() {
    if (file_ >= 0) close(file_);
  }
  FileLock(const FileLock&) = delete;
  bool held() const { return file_ >= 0; }

 private:
  int file_;
};

}  // namespace

std::string cache_folder() {
  if (const char* own = std::getenv("RILL_CACHE_DIR")) return own;
  if (const std::string xdg = from_environment("XDG_CACHE_HOME"); !xdg.empty())
    return xdg + "/rill";
  const std::string home = from_environment("HOME");
  return home.empty() ? "" : home + "/.cache/rill";
}

ChoiceStore::ChoiceStore(const std::string& file_name) {
  if (const std::string folder = cache_folder(); !folder.empty()) path_ = folder + "/" + file_name;
}

// Lines that are not pairs are skipped: what a damaged file has lost is chosen again.
void ChoiceStore::read() {
  read_ = true;
  std::ifstream file(path_);
  for (std::string line; std::getline(file, line);) {
    const auto space = line.find(' ');
    if (space != line.npos && space > 0 && space + 1 < line.size())
      choices_.emplace(line.substr(0, space), line.substr(space + 1));
  }
}

std::optional<std::string> ChoiceStore::find(const std::string& key) {
  std::lock_guard lock(mutex_);
  if (!read_ && can_keep()) read();
  const auto found = choices_.find(key);
  if (found == choices_.end()) return {};
  return found->second;
}

std::optional<std::string> ChoiceStore::keep(const std::string& key, const std::string& choice) {
  std::lock_guard lock(mutex_);
  if (!can_keep()) return {};
  std::error_code failed;
  std::filesystem::create_directories(std::filesystem::path(path_).parent_path(), failed);
  const FileLock others(path_ + ".lock");
  if (!others.held()) return {};
  read();
  const auto [at, is_new] = choices_.emplace(key, choice);
  if (!is_new) return at->second;
  const std::string next = path_ + ".new";
  {
    std::ofstream file(next, std::ios::trunc);
    for (const auto& [k, c] : choices_) file << k << ' ' << c << '\n';
    file.flush();
    if (!file) failed = std::make_error_code(std::errc::io_error);
  }
  if (!failed) std::filesystem::rename(next, path_, failed);
  if (!failed) return choice;
  choices_.erase(at);
  return {};
}

}  // namespace rill
