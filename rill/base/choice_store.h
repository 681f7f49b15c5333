#pragma once
#include <map>
#include <mutex>
#include <optional>
#include <string>

#include "rill/base/api.h"

namespace rill RILL_API {

// Where this library keeps what is worth keeping between runs: $RILL_CACHE_DIR, else
// $XDG_CACHE_HOME/rill, else $HOME/.cache/rill. "": nowhere (RILL_CACHE_DIR is set and empty,
// or there is no home).
std::string cache_folder();

// Choices that were made by measuring, and that every process of a machine shall make alike: a
// file of lines "key choice". The first process to store a choice decides; files are replaced
// as a whole, so that none is ever read half written. Threads may share one.
class ChoiceStore {
 public:
  // In the cache folder. Makes nothing yet.
  explicit ChoiceStore(const std::string& file_name);

  std::optional<std::string> find(const std::string& key);
  // The choice that counts from now on: `choice`, or what another process stored before. Nothing:
  // it cannot be stored. Keys and choices have neither spaces nor line ends.
  std::optional<std::string> keep(const std::string& key, const std::string& choice);
  bool can_keep() const { return !path_.empty(); }

 private:
  void read();

  std::mutex mutex_;
  std::string path_;
  bool read_ = false;
  std::map<std::string, std::string> choices_;
};

}  // namespace RILL_API
