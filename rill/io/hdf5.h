#pragma once
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "rill/core/tensor.h"

// HDF5 files, as far as Keras uses them: groups, arrays of numbers, and texts as attributes.
// Paths inside a file are "a/b/c"; "" is the root.
namespace rill RILL_API {
namespace io {

bool is_hdf5(std::string_view first_bytes);

// DataLoss, with the file's name and the place in it, for what is damaged or claims more than the
// file holds; Unimplemented for what h5py can write but a tensor cannot hold, for filters other
// than deflate, shuffle and fletcher32, and for links to other files. Nothing outside the file
// is opened, and no code loaded. Time and memory are in proportion to the file's size, whatever it
// says. Threads may share a reader.
class Hdf5Reader {
 public:
  explicit Hdf5Reader(const std::string& path);
  // A file in memory; `name` is for messages.
  Hdf5Reader(std::string bytes, std::string name);
  ~Hdf5Reader();
  Hdf5Reader(Hdf5Reader&&) noexcept;
  const std::string& name() const;

  bool has_group(const std::string& path) const;
  bool has_array(const std::string& path) const;
  std::vector<std::string> list(const std::string& group) const;  // names, sorted

  bool has_attribute(const std::string& group, const std::string& name) const;
  std::string text(const std::string& group, const std::string& name) const;
  // A list of texts; also where Keras has split it over NAME0, NAME1, ...
  std::vector<std::string> texts(const std::string& group, const std::string& name) const;
  bool has_texts(const std::string& group, const std::string& name) const;

  TensorShape shape(const std::string& array) const;
  Tensor read(const std::string& array) const;

  class Impl;

 private:
  std::unique_ptr<Impl> impl_;
};

// Makes a file in memory.
class Hdf5Writer {
 public:
  Hdf5Writer();
  ~Hdf5Writer();
  Hdf5Writer(const Hdf5Writer&) = delete;
  Hdf5Writer& operator=(const Hdf5Writer&) = delete;
  void add_group(const std::string& path);  // and those above it
  bool contains(const std::string& path) const;
  void write(const std::string& path, const Tensor& array);
  void link(const std::string& path, const std::string& to);  // a second name of what is there
  void set_text(const std::string& group, const std::string& name, std::string_view text);
  void set_texts(const std::string& group, const std::string& name,
                 const std::vector<std::string>& texts);
  std::string finish();

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace io
}  // namespace RILL_API
