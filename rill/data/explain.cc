// What a dataset is made of, as text.
#include "rill/data/dataset_impl.h"

namespace rill::data {
namespace {

constexpr std::size_t kFilesShown = 10;

void describe(std::string& out, const DatasetImpl& d, const std::string& indent) {
  out += d.name();
  std::string facts;
  for (const Fact& f : d.facts())
    facts += format("{}{}={}", facts.empty() ? "" : ", ", f.name, f.value);
  if (!facts.empty()) out += "(" + facts + ")";
  out += '\n';
  const std::vector<std::string> files = d.files();
  for (std::size_t i = 0; i < files.size(); ++i) {
    if (i == kFilesShown) {
      out += format("{}     and {} more\n", indent, files.size() - i);
      break;
    }
    out += format("{}     {}\n", indent, files[i]);
  }
  const std::vector<const DatasetImpl*> inputs = d.inputs();
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    out += indent + "+- ";
    describe(out, *inputs[i], indent + (i + 1 < inputs.size() ? "|  " : "   "));
  }
}

void add_files(std::vector<std::string>& all, const DatasetImpl& d) {
  for (std::string& f : d.files()) all.push_back(std::move(f));
  for (const DatasetImpl* input : d.inputs()) add_files(all, *input);
}

}  // namespace

std::string Dataset::explain() const {
  std::string out;
  describe(out, *impl_, "");
  return out;
}
std::vector<std::string> Dataset::files() const {
  std::vector<std::string> all;
  add_files(all, *impl_);
  return all;
}

}  // namespace rill::data
