#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "rill/core/operand.h"
#include "rill/core/tensor.h"

// NumPy's files: .npy holds one array, .npz several by name.
namespace rill RILL_API {
namespace io {

// The array of a .npy file's bytes; `name` is for messages. DataLoss when it is damaged,
// Unimplemented for a dtype that tensors do not have.
Tensor read_npy(std::string_view bytes, std::string_view name);
std::string write_npy(const Tensor& t);
// An array of Python's lists of whole numbers, which differ in length. NumPy keeps it as a pickle,
// of which only such lists are understood: nothing that it names is run.
std::vector<std::vector<std::int64_t>> read_npy_lists(std::string_view bytes,
                                                      std::string_view name);

// Paths that are read may begin with ~/, the user's folder.
Tensor load_npy(const std::string& path);
void save_npy(const std::string& path, const Tensor& t);
// Arrays by name, in the order of the file. An unknown name is NotFound, with those that there are.
class Arrays : public std::vector<std::pair<std::string, Tensor>> {
 public:
  using std::vector<std::pair<std::string, Tensor>>::operator[];
  template <StringLike S>
  Tensor operator[](const S& name) const {
    return by_name(std::string_view(name));
  }
  std::vector<std::string> files() const;  // the names

 private:
  Tensor by_name(std::string_view name) const;
};
Arrays load_npz(const std::string& path);
void save_npz(const std::string& path, const std::vector<std::pair<std::string, Tensor>>& arrays,
              bool compressed = false);

}  // namespace io
}  // namespace RILL_API
