#include <algorithm>
#include <fstream>

#include "rill/base/check.h"
#include "rill/core/array_format.h"
#include "rill/io/file.h"
#include "rill/keras/callbacks/callbacks.h"

namespace rill::keras::callbacks {

CSVLogger::CSVLogger(std::string filename, CSVLoggerOptions o)
    : filename_(std::move(filename)), o_(std::move(o)) {}

void CSVLogger::on_train_begin(const Logs&) {
  keys_.clear();
  has_header_ = o_.append && io::file_exists(filename_) && !io::file_contents(filename_).empty();
  std::ofstream file(filename_, o_.append ? std::ios::app : std::ios::trunc);
  const std::string folder = io::folder_of(filename_);
  RILL_CHECK(
      file.good() || io::file_exists(folder), not_found,
      "[CSVLogger] {} cannot be written: there is no folder \"{}\"; expected one that exists",
      filename_, folder);
  RILL_CHECK(file.good(), permission_denied, "[CSVLogger] {} cannot be written", filename_);
}

void CSVLogger::on_epoch_end(int epoch, const Logs& logs) {
  if (keys_.empty()) {
    for (const auto& [name, value] : logs.items()) keys_.push_back(name);
    std::sort(keys_.begin(), keys_.end());
    // Validation may come in a later epoch only; its columns are there from the first, as in Keras.
    const auto is_validation = [](const std::string& k) { return k.starts_with("val_"); };
    if (std::none_of(keys_.begin(), keys_.end(), is_validation))
      for (std::size_t n = keys_.size(), i = 0; i < n; ++i) keys_.push_back("val_" + keys_[i]);
  }
  std::ofstream file(filename_, std::ios::app);
  if (!has_header_) {
    file << "epoch";
    for (const std::string& k : keys_) file << o_.separator << k;
    file << '\n';
    has_header_ = true;
  }
  file << epoch;
  for (const std::string& k : keys_) {
    file << o_.separator;
    if (!logs.contains(k)) {
      file << "NA";
      continue;
    }
    const double v = logs[k];
    file << scalar_str({float64, {}, &v});
  }
  file << '\n';
  file.flush();
  RILL_CHECK(file.good(), resource_exhausted, "[CSVLogger] {} cannot be written", filename_);
}

}  // namespace rill::keras::callbacks
