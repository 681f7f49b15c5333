#pragma once
#include <memory>
#include <string>
#include <vector>

#include "rill/data/columns_impl.h"
#include "rill/data/dataset_impl.h"
#include "rill/data/filenames.h"

// What the sources that read files share: TextLineDataset, TFRecordDataset and their kin say how to
// read one record of one file.
namespace rill::data {

// Reads one file from its beginning to its end.
class FileReader {
 public:
  virtual ~FileReader() = default;
  // The next record as a row of `out`; false at the end of the file. InvalidArgument is about
  // this record, and the next one can be read; after another error the file is left.
  virtual bool read(Columns& out) = 0;
  // Where the next record begins, for seek() of another reader of this file.
  virtual std::uint64_t position() const = 0;
  virtual void seek(std::uint64_t position) = 0;
};

class FileFormat {
 public:
  virtual ~FileFormat() = default;
  virtual const char* name() const = 0;  // "TextLineDataset"
  // NotFound and the like, with the path.
  virtual std::unique_ptr<FileReader> open(const std::string& path) const = 0;
  virtual std::vector<DType> dtypes() const = 0;
  // An element is a tuple of the columns; otherwise the only column.
  virtual bool is_tuple() const { return false; }
};

// The records of all files, one file after the other; or, with `parallel_reads`, of so many files
// in turns, read ahead by threads.
Dataset dataset_of_files(const Filenames& names, std::shared_ptr<const FileFormat> format,
                         std::int64_t parallel_reads);

}  // namespace rill::data
