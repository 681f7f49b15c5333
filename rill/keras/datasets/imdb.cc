#include <algorithm>
#include <nlohmann/json.hpp>

#include "rill/base/check.h"
#include "rill/io/file.h"
#include "rill/io/npy.h"
#include "rill/io/zip.h"
#include "rill/keras/datasets/published_impl.h"
#include "rill/ops/array_ops.h"
#include "rill/ops/np/legacy_generator_impl.h"

namespace rill::keras::datasets::imdb {

namespace {

// One part of the file, in the order of the generator, with start_char and index_from.
Reviews read_part(const io::ZipReader& zip, const std::string& path, const std::string& part,
                  np::LegacyGenerator& random, const ImdbOptions& o) {
  const std::string name = path + ":x_" + part;
  std::vector<std::vector<std::int64_t>> lists =
      io::read_npy_lists(zip.read("x_" + part + ".npy"), name);
  const Tensor labels = io::read_npy(zip.read("y_" + part + ".npy"), path + ":y_" + part);
  RILL_CHECK(labels.ndim() == 1 && labels.size() == static_cast<std::int64_t>(lists.size()),
             data_loss, "[imdb] {} has {} reviews and labels of shape {}", name, lists.size(),
             labels.shape());
  std::vector<std::int64_t> order = random.shuffled(lists.size()), kept;
  Reviews r;
  for (const std::int64_t i : order) {
    const std::vector<std::int64_t>& words = lists[static_cast<std::size_t>(i)];
    const std::size_t length = words.size() + (o.start_char ? 1 : 0);
    if (o.maxlen > 0 && static_cast<std::int64_t>(length) >= o.maxlen) continue;
    std::vector<std::int64_t> review;
    review.reserve(length);
    if (o.start_char) review.push_back(*o.start_char);
    for (const std::int64_t w : words) {
      RILL_CHECK(w >= 0 && w <= INT32_MAX, data_loss, "[imdb] {} has the word {}", name, w);
      review.push_back(w + o.index_from);
    }
    r.x.push_back(std::move(review));
    kept.push_back(i);
  }
  RILL_CHECK(o.maxlen <= 0 || !kept.empty(), invalid_argument,
             "[imdb] no review is shorter than maxlen={}; increase maxlen", o.maxlen);
  r.y = gather(labels, constant(kept));
  return r;
}

}  // namespace

ReviewSplits load_data(const ImdbOptions& o) {
  const std::string path = find_file(
      {"imdb", "imdb.npz", "69664113be75683a8fe16e3ed0ab59fda8886cb3cd7ada244f7d9544e4676b9f"},
      {.path = o.path, .download = o.download, .verify = o.verify});
  const io::ZipReader zip = io::ZipReader::open(path);
  np::LegacyGenerator random(o.seed);
  ReviewSplits s;
  s.train = read_part(zip, path, "train", random, o);
  s.test = read_part(zip, path, "test", random, o);
  std::int64_t end = o.num_words;
  if (end == 0)
    // The largest number itself is left out, as Keras does it.
    for (const Reviews* r : {&s.train, &s.test})
      for (const auto& review : r->x)
        for (const std::int64_t w : review) end = std::max(end, w);
  const auto left_out = [&](std::int64_t w) { return w < o.skip_top || w >= end; };
  for (Reviews* r : {&s.train, &s.test})
    for (auto& review : r->x) {
      if (o.oov_char)
        std::replace_if(review.begin(), review.end(), left_out, *o.oov_char);
      else
        std::erase_if(review, left_out);
    }
  return s;
}

std::unordered_map<std::string, std::int64_t> get_word_index(const WordIndexOptions& o) {
  const std::string path =
      find_file({"imdb", "imdb_word_index.json", "bfafd718b763782e994055a2d397834f"},
                {.path = o.path, .download = o.download, .verify = o.verify});
  const nlohmann::json words = nlohmann::json::parse(io::file_contents(path), nullptr, false);
  RILL_CHECK(words.is_object(), data_loss, "[imdb] {} is not a JSON dict of words", path);
  std::unordered_map<std::string, std::int64_t> index;
  for (const auto& [word, number] : words.items()) {
    RILL_CHECK(number.is_number_integer(), data_loss, "[imdb] {}: \"{}\" has no whole number", path,
               word);
    index.emplace(word, number.get<std::int64_t>());
  }
  return index;
}

}  // namespace rill::keras::datasets::imdb
