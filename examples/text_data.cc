// shows: P34 P35 D47 D48 D49 D50
// Text files: lines without headers and comments, and CSV with columns that must be there, that
// may be empty, and that are chosen.
#include <rill/rill.h>

#include <filesystem>

#include "example.h"
namespace tf = rill;
using tf::Nest, tf::Tensor, tf::data::Dataset;

std::string file_with(const std::string& folder, const std::string& name, const std::string& text) {
  const std::string path = folder + "/" + name;
  tf::io::gfile::GFile file(path, "w");
  file.write(text);
  file.close();
  return path;
}

std::string shown(const Dataset& dataset) {
  std::string text;
  for (const Nest& element : dataset) text += tf::format("{}\n", element);
  std::cout << text;
  return text;
}

int main() {
  const std::string folder = (std::filesystem::temp_directory_path() / "rill_text_data").string();
  tf::io::gfile::makedirs(folder);

  // Each file is a dataset of its own: its header and its comments are left out.
  std::vector<std::string> filenames = {
      file_with(folder, "file1.txt", "a header\none\n# a comment\ntwo\n"),
      file_with(folder, "file2.txt", "another header\r\nthree\r\n#\r\n\r\nfour")};
  auto lines = Dataset::from_tensor_slices(tf::constant(filenames)).flat_map([](Tensor filename) {
    return tf::data::TextLineDataset(filename).skip(1).filter(
        [](Tensor line) { return tf::not_equal(tf::substr(line, 0, 1), "#"); });
  });
  expect(shown(lines) == "b'one'\nb'two'\nb'three'\nb''\nb'four'\n", "the lines of both files");

  // Eight columns of floats, all of which must be there.
  filenames = {file_with(folder, "file1.csv", "1,2,3,4,5,6,7,8\n.5,1e3,-1,0,0,0,0,0\n"),
               file_with(folder, "file2.csv", "8,7,6,5,4,3,2,1\n9,,9,9,9,9,9,9\n")};
  auto records = tf::contrib::data::CsvDataset(
      filenames, std::vector<tf::data::RecordDefault>(8, tf::float32));
  auto row = records.iter();
  for (int i = 0; i < 3; ++i) std::cout << tf::format("{}\n", row.next());
  try {
    row.next();
    expect(false, "a column that must be there is missing");
  } catch (const tf::errors::InvalidArgumentError& e) {
    const std::string what = e.what();
    expect(what.find("file2.csv\", line 2, column 1") != what.npos, "the place of the empty field");
  }

  // Empty fields become 0.
  records = tf::contrib::data::CsvDataset(filenames, std::vector<tf::data::RecordDefault>(8, 0.f));
  const std::vector<Nest> rows = records.as_vector();
  expect(rows.size() == 4 && rows[3].part(1).item<float>() == 0, "the default of a column");

  // Without the header, columns 2 and 4 alone.
  const std::string with_header =
      file_with(folder, "header.csv", "a,b,c,d,e\n1,2,3,4,5\n6,7,8,9,\n");
  records = tf::contrib::data::CsvDataset({with_header}, {0.f, 0.f},
                                          {.header = true, .select_cols = {2, 4}});
  expect(shown(records) == "(3.0, 5.0)\n(8.0, 0.0)\n", "two chosen columns");

  tf::io::gfile::rmtree(folder);
}
