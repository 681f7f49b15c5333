#pragma once
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <iosfwd>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "rill/data/pipeline_profile.h"
#include "rill/data/size.h"
#include "rill/data/structure.h"
#include "rill/data/user_function.h"

// Input pipelines: a source, and transformations that each give a new dataset.
//
//   auto ds = tf::data::Dataset::from_tensor_slices(tf::tuple(images, labels))
//                 .shuffle(10000).batch(32).prefetch(tf::data::AUTOTUNE);
//   for (auto& batch : ds) { auto [x, y] = batch.unpack<2>(); ... }
//
// Sizes, counts, seeds and names of files may be symbolic tensors, the arguments of a traced
// function. Such a dataset has elements only when the function runs: reduce() and
// get_single_element() then give symbolic tensors.
//
// The same seeds give the same elements in the same order, whatever the number
// of threads; only `deterministic = false` gives that up.
namespace rill RILL_API {

class TrackableNode;
void retain(TrackableNode*) noexcept;
void release(TrackableNode*) noexcept;

namespace data {

class DatasetImpl;
class IteratorImpl;
void retain(DatasetImpl*) noexcept;
void release(DatasetImpl*) noexcept;
void retain(IteratorImpl*) noexcept;
void release(IteratorImpl*) noexcept;

inline constexpr std::int64_t AUTOTUNE = -1;
inline constexpr std::int64_t INFINITE_CARDINALITY = -1;
inline constexpr std::int64_t UNKNOWN_CARDINALITY = -2;

// How AUTOTUNE chooses the sizes of buffers and the number of threads.
struct AutotuneOptions {
  bool enabled = true;  // false: buffers stay as small as they begin
  // Threads; 0: as many as there are cores, and for interleave() one per open dataset, since those
  // may wait for disks.
  std::int64_t cpu_budget = 0;
  std::int64_t ram_budget = 0;  // bytes of all such buffers of an iterator; 0: half of what is free
};
struct Options {
  AutotuneOptions autotune = {};
  std::optional<bool> deterministic = {};  // of stages that do not say it themselves
};

struct RandomOptions {
  Size seed = -1;  // none
};

struct MapOptions {
  std::int64_t num_parallel_calls = 0;  // 0: in the caller's thread; AUTOTUNE: the cores
  // false: results in the order in which they are ready. Not given: as Options has it, else true.
  std::optional<bool> deterministic = {};
  std::string name = {};
  bool traced = false;  // the function is traced and run as a graph
};
struct ShuffleOptions {
  Size seed = -1;                        // -1: by set_seed, or by chance without one
  bool reshuffle_each_iteration = true;  // another order at each pass
  std::string name = {};
};
struct BatchOptions {
  bool drop_remainder = false;
  std::int64_t num_parallel_calls = 0;
  bool deterministic = true;
  std::string name = {};
};
// -1, {0, ""}, tf::tuple(0, "").
class PaddingValues : public TensorList {
 public:
  using TensorList::TensorList;
  template <class T>
  requires(std::is_arithmetic_v<T> || StringLike<T>) PaddingValues(const T& value)
      : TensorList({Operand(value)}) {}
};
struct PaddedBatchOptions {
  // One for all components, or one each; none: zeros, and empty strings.
  PaddingValues padding_values = {};
  bool drop_remainder = false;
  std::string name = {};
};
struct InterleaveOptions {
  std::int64_t cycle_length = 0;  // datasets open at a time; 0: the cores
  std::int64_t block_length = 1;  // elements taken from one before the next has its turn
  // So many threads read ahead from the open datasets. AUTOTUNE begins with one, and takes more, up
  // to one per dataset, as long as that gives more elements per second.
  std::int64_t num_parallel_calls = 0;
  // false: elements come from whichever dataset has one ready. Not given: as Options has it, else
  // true, and the elements and their order are those without threads.
  std::optional<bool> deterministic = {};
  std::string name = {};
};
struct BucketOptions {
  Shapes padded_shapes = {};
  PaddingValues padding_values = {};
  bool pad_to_bucket_boundary = false;  // each batch to one less than its bucket's end
  bool no_padding = false;
  bool drop_remainder = false;
};
struct ListFilesOptions {
  bool shuffle = true;     // in another order at each pass; false: sorted
  std::int64_t seed = -1;  // -1: by set_seed, or by chance without one
};
struct SampleOptions {
  std::int64_t seed = -1;
  bool stop_on_empty_dataset = false;       // false: the others go on
  bool rerandomize_each_iteration = false;  // another order at each pass
};
struct WindowOptions {
  std::int64_t shift = 0;  // from window to window; 0: the size, so that none overlap
  std::int64_t stride = 1;
  bool drop_remainder = false;
  std::string name = {};
};

struct SaveOptions {
  std::string compression = {};  // "", "GZIP", "ZLIB" or "SNAPPY"
  // The number of the shard that an element is written to; none: one shard.
  detail::ElementFunction shard_func = {};
};
struct LoadOptions;

// An element that may be missing: tf.experimental.Optional.
class Optional {
 public:
  Optional() = default;  // none
  explicit Optional(Nest value) : value_(std::move(value)) {}
  bool has_value() const { return value_.has_value(); }
  explicit operator bool() const { return has_value(); }
  Nest get_value() const;  // InvalidArgument where there is none
  Nest value() const { return get_value(); }

 private:
  std::optional<Nest> value_;
};

struct Sentinel {};
class Filenames;

// A pass over a dataset. A handle: copies share the position. It keeps the
// dataset alive, and ends its threads when the last copy goes.
class Iterator {
 public:
  using value_type = Nest;
  using difference_type = std::ptrdiff_t;

  // The next element. OutOfRange, "End of sequence", when there is none.
  Nest next();
  Nest get_next() { return next(); }
  // The same without an error: false at the end.
  bool next(Nest* element);
  Optional get_next_as_optional();  // without a value at the end

  // For range-for: the element that next() would give, owned by the iterator
  // and replaced by ++.
  Nest& operator*() const;
  Nest* operator->() const { return &**this; }
  Iterator& operator++();
  void operator++(int) { ++*this; }
  friend bool operator==(const Iterator& it, Sentinel) { return it.at_end(); }

  const ElementSpec& element_spec() const;

  // The position of every stage, with what shuffle buffers and queues hold and
  // how far random streams have come. restore() continues from there in an
  // iterator of an equal pipeline, in this process or another. DataLoss when the
  // bytes are damaged, InvalidArgument when another pipeline wrote them; the
  // iterator then stays as it was. A generator is started again and passed over.
  // Passes over the dataset that begin later are those that would have come after
  // the saved one.
  std::string save() const;
  void restore(std::string_view state);
  // Library use: this iterator as part of a checkpoint (rill/core/trackable.h).
  Ref<TrackableNode> trackable() const;

 private:
  friend class Dataset;
  explicit Iterator(Ref<IteratorImpl> impl) : impl_(std::move(impl)) {}
  bool at_end() const;
  Ref<IteratorImpl> impl_;
};

// A sequence of elements, each a Nest of tensors of the same structure. A
// handle; transformations leave it as it is.
class Dataset {
 public:
  using Iterator = data::Iterator;
  using Sentinel = data::Sentinel;

  // One element: all of it.
  static Dataset from_tensors(const Nest& tensors);
  // An element for each row of the tensors, which agree in their first size.
  static Dataset from_tensor_slices(const Nest& tensors);
  // Literals: from_tensor_slices({1, 2, 3}).
  template <class T>
  requires(std::is_arithmetic_v<T> || StringLike<T>) static Dataset
      from_tensor_slices(std::initializer_list<T> values) {
    using Kept =
        std::conditional_t<std::is_arithmetic_v<T>,
                           std::conditional_t<std::is_same_v<T, double>, float, T>, std::string>;
    const std::vector<Kept> all(values.begin(), values.end());
    return from_tensor_slices(Nest(to_tensor(Operand(all))));
  }
  static Dataset range(const Size& stop);
  static Dataset range(const Size& start, const Size& stop, const Size& step = 1);
  // int64 scalars without end: start, start + step, ...
  static Dataset counter(std::int64_t start = 0, std::int64_t step = 1);
  // int64 scalars without end, uniform over 32 bits: with a seed TensorFlow's own numbers. The same
  // at each pass.
  static Dataset random(const Size& seed = -1);
  template <int = 0>
  static Dataset random(const RandomOptions& options) {
    return random(options.seed);
  }
  // The files that match one of the patterns, as string scalars (rill/io/gfile.h tells what a
  // pattern is). NotFound when there is none.
  static Dataset list_files(const Filenames& file_pattern, ListFilesOptions options = {});
  // Each element is the next one of the dataset that `choice_dataset`, int64 scalars, names. A
  // dataset that is at its end ends the whole, or, with stop_on_empty_dataset = false, is passed
  // over.
  static Dataset choose_from_datasets(const std::vector<Dataset>& datasets,
                                      const Dataset& choice_dataset,
                                      bool stop_on_empty_dataset = true);
  // Each element is of a dataset drawn by chance, by the weights or all alike.
  static Dataset sample_from_datasets(const std::vector<Dataset>& datasets,
                                      const std::vector<double>& weights = {},
                                      SampleOptions options = {});
  // `generator()` starts a pass: it returns a callable that yields a
  // std::optional of an element (what a Nest can be made of, or a number), empty
  // at the end. InvalidArgument when an element is not as the signature says.
  template <class G>
  static Dataset from_generator(G generator, const ElementSpec& output_signature) {
    return from_generator_(new detail::GeneratorOf<G>(std::move(generator)), output_signature);
  }
  template <class G>
  static Dataset from_generator(G generator, const Types& output_types,
                                const Shapes& output_shapes = {}) {
    return from_generator_(new detail::GeneratorOf<G>(std::move(generator)),
                           signature_of(output_types, output_shapes));
  }
  // Tuples of an element from each; ends with the shortest.
  static Dataset zip(std::initializer_list<Dataset> datasets);
  static Dataset zip(const std::vector<Dataset>& datasets);
  template <std::same_as<Dataset>... More>
  static Dataset zip(const Dataset& a, const Dataset& b, const More&... more) {
    return zip(std::vector<Dataset>{a, b, more...});
  }
  // Dicts: zip({{"image", images}, {"label", labels}}).
  static Dataset zip(const std::vector<std::pair<std::string, Dataset>>& datasets);

  // `f` takes the items of a tuple as arguments, or an element whole as a Nest,
  // and returns an element of the new dataset. It runs as plain C++. Random ops in
  // it draw by element, whichever thread calls them. With several calls at a
  // time `f` is called by several threads.
  template <class F>
  Dataset map(F f, MapOptions options = {}) const {
    return map_(detail::user_function(std::move(f)), std::move(options));
  }
  // Keeps elements for which `f` returns true: a bool, or a scalar tensor.
  template <class F>
  Dataset filter(F f) const {
    return filter_(detail::user_function(std::move(f)));
  }
  // Ends before the first element for which `f` returns false.
  template <class F>
  Dataset take_while(F f) const {
    return take_while_(detail::user_function(std::move(f)));
  }
  // `f` returns a dataset for each element; their elements one after the other ...
  template <class F>
  Dataset flat_map(F f) const {
    return flat_map_(detail::user_function(std::move(f)));
  }
  // ... or in turns.
  template <class F>
  Dataset interleave(F f, InterleaveOptions options = {}) const {
    return interleave_(detail::user_function(std::move(f)), std::move(options));
  }
  // Elements for which `key_func` gives the same int64 are put together, `window_size` at a time,
  // and `reduce_func(key, window)`, with the key as a Tensor and the window as a Dataset, returns a
  // dataset of new elements. What is left at the end makes smaller windows.
  template <class K, class R>
  Dataset group_by_window(K key_func, R reduce_func, std::int64_t window_size) const {
    return group_by_window_(detail::user_function(std::move(key_func)),
                            detail::user_function(std::move(reduce_func)), window_size, {});
  }
  // `window_size_func(key)` gives the size for each key.
  template <class K, class R, class W>
  requires(!std::is_arithmetic_v<W>) Dataset
      group_by_window(K key_func, R reduce_func, W window_size_func)
  const {
    return group_by_window_(detail::user_function(std::move(key_func)),
                            detail::user_function(std::move(reduce_func)), 0,
                            detail::user_function(std::move(window_size_func)));
  }
  // Elements of about one length make padded batches. `element_length_func` gives the length;
  // bucket i is for lengths below bucket_boundaries[i], the last for all others, and has batches of
  // bucket_batch_sizes[i].
  template <class L>
  Dataset bucket_by_sequence_length(L element_length_func,
                                    const std::vector<std::int64_t>& bucket_boundaries,
                                    const std::vector<std::int64_t>& bucket_batch_sizes,
                                    BucketOptions options = {}) const {
    return bucket_(detail::user_function(std::move(element_length_func)), bucket_boundaries,
                   bucket_batch_sizes, std::move(options));
  }
  // (state, new element) = f(state, element) for each in turn.
  template <class F>
  Dataset scan(const Nest& initial_state, F f) const {
    return scan_(initial_state, detail::user_function(std::move(f)));
  }
  // state = f(state, element) over all elements.
  template <class F>
  Nest reduce(const Nest& initial_state, F f) const {
    return reduce_(initial_state, detail::user_function(std::move(f)));
  }
  // f(*this): a transformation by its name.
  template <class F>
  Dataset apply(F f) const {
    return f(*this);
  }

  // Stacks `batch_size` elements along a new axis 0.
  Dataset batch(const Size& batch_size, BatchOptions options = {}) const;
  // Components with sizes that are not known become ragged tensors, whose rows the elements are.
  // (batch() does so with rows of ragged tensors, and makes sparse tensors of sparse ones.)
  Dataset ragged_batch(std::int64_t batch_size, BatchOptions options = {}) const;
  // The same for elements whose sizes differ: each is padded at its end to the
  // shape given for its component, where an unknown size means the largest of the
  // batch. Without shapes every size does.
  Dataset padded_batch(const Size& batch_size, const Shapes& padded_shapes = {},
                       PaddedBatchOptions options = {}) const;
  template <class O = PaddedBatchOptions>
  requires std::is_same_v<O, PaddedBatchOptions> Dataset padded_batch(const Size& batch_size,
                                                                      O options)
  const { return padded_batch(batch_size, Shapes(), std::move(options)); }
  Dataset unbatch() const;
  // Batches of another size; or, with several sizes, of these in turn. The last may be smaller.
  Dataset rebatch(std::int64_t batch_size, bool drop_remainder = false) const;
  Dataset rebatch(const std::vector<std::int64_t>& batch_sizes, bool drop_remainder = false) const;
  // Without elements that were there before. They are scalars of int32, int64 or string.
  Dataset unique() const;
  // Without elements that end in an error; with log_warning it is written to the log.
  Dataset ignore_errors(bool log_warning = false) const;
  // Datasets of `size` elements each, one for every component, as elements: Dataset::of(element)
  // reads one.
  Dataset window(const Size& size, WindowOptions options = {}) const;
  static Dataset of(const Nest& element);

  // Draws each element by chance from a buffer of the next `buffer_size`; UNKNOWN_CARDINALITY: of
  // all.
  Dataset shuffle(const Size& buffer_size, ShuffleOptions options = {}) const;
  Dataset repeat(const Size& count = -1) const;  // -1: without end
  Dataset take(const Size& count) const;         // -1: all
  Dataset skip(const Size& count) const;         // -1: all
  Dataset shard(const Size& num_shards, const Size& index) const;
  Dataset concatenate(const Dataset& other) const;
  Dataset enumerate(std::int64_t start = 0) const;  // (int64 number, element)
  // Keeps the elements of the first whole pass in memory; with a name in the file FILENAME.cache,
  // which appears when it is whole and which later processes read. AlreadyExists while another
  // iterator or process writes it; InvalidArgument where it holds elements of another kind.
  Dataset cache(std::string_view filename = {}) const;
  // A thread of its own prepares up to `buffer_size` elements ahead. With AUTOTUNE it begins
  // with 2, and takes more when they are used up faster than they come, as memory allows.
  Dataset prefetch(const Size& buffer_size) const;
  // prefetch(buffer_size), and one element further ahead is on its way to the device ("/gpu:0"):
  // a step begins with its batch in place. Strings stay on the host. Last in a pipeline.
  Dataset prefetch_to_device(std::string_view device, std::int64_t buffer_size = AUTOTUNE) const;
  // Writes all elements to the folder `path`, as tf.data does: load() here and in TensorFlow reads
  // them. What was saved there before counts until all is written. Tensors, ragged and sparse ones.
  void save(const std::string& path, const SaveOptions& options = {}) const;
  // The elements that save() wrote, here or in TensorFlow: of several shards one of each in turn.
  // NotFound where nothing was saved; DataLoss, with file and place, for what is damaged.
  static Dataset load(const std::string& path);
  static Dataset load(const std::string& path, const LoadOptions& options);
  // The same elements; what is before this in the pipeline obeys the options. Of two, the
  // later one counts.
  Dataset with_options(const Options& options) const;

  // The stages as a tree, the last one first, with what they were made with and the files that they
  // read:
  //
  //   BatchDataset(batch_size=32, drop_remainder=false)
  //   +- ShuffleDataset(buffer_size=1000, ...)
  //      +- TFRecordDataset
  //           train-0.tfrecord
  std::string explain() const;
  // The files that the sources read.
  std::vector<std::string> files() const;
  // Reads elements and measures each stage: its time, the wait for others, its buffers.
  PipelineProfile profile(ProfileOptions options = {}) const;

  // The number of elements, INFINITE_CARDINALITY or UNKNOWN_CARDINALITY.
  std::int64_t cardinality() const;
  // cardinality() where it is a number; InvalidArgument otherwise.
  std::int64_t size() const;
  // Dtypes and shapes of an element, with None for sizes that vary. After map()
  // the function is traced to learn them; where it cannot be, it is called with
  // the first element, and the shapes are unknown. So is the function of flat_map() and
  // interleave(), for the dataset that it returns; where there is no element it gets zeros.
  const ElementSpec& element_spec() const;
  Types output_types() const;
  Shapes output_shapes() const;
  // "<BatchDataset shapes: (None, 2), types: tf.float64>"
  std::string to_string() const;

  Iterator make_iterator() const;
  Iterator iter() const { return make_iterator(); }
  Iterator begin() const { return make_iterator(); }
  Sentinel end() const { return {}; }
  // Elements print as NumPy's arrays do.
  Iterator as_numpy_iterator() const { return make_iterator(); }
  // The only element. InvalidArgument when there is none, or more than one.
  Nest get_single_element() const;
  // All elements. InvalidArgument when there is no end.
  std::vector<Nest> as_vector() const;

  // Library use.
  explicit Dataset(Ref<DatasetImpl> impl) : impl_(std::move(impl)) {}
  const DatasetImpl& impl() const { return *impl_; }
  const Ref<DatasetImpl>& ref() const { return impl_; }

 protected:
  Dataset() = default;
  Ref<DatasetImpl> impl_;

 private:
  static Dataset from_generator_(detail::Generator* generator, const ElementSpec& spec);
  static ElementSpec signature_of(const Types& types, const Shapes& shapes);
  Dataset map_(detail::Fn f, MapOptions options) const;
  Dataset filter_(detail::Fn f) const;
  Dataset take_while_(detail::Fn f) const;
  Dataset flat_map_(detail::Fn f) const;
  Dataset interleave_(detail::Fn f, InterleaveOptions options) const;
  Dataset group_by_window_(detail::Fn key, detail::Fn reduce, std::int64_t size,
                           std::optional<detail::Fn> size_of) const;
  Dataset bucket_(detail::Fn length, const std::vector<std::int64_t>& boundaries,
                  const std::vector<std::int64_t>& batch_sizes, BucketOptions options) const;
  Dataset scan_(const Nest& initial_state, detail::Fn f) const;
  Nest reduce_(const Nest& initial_state, const detail::Fn& f) const;
};
std::ostream& operator<<(std::ostream& os, const Dataset& dataset);

struct LoadOptions {
  ElementSpec element_spec = {};  // not given: as it was saved
  std::string compression = {};   // as it was saved with
  // From a dataset of shards, each of them a dataset, makes one of elements:
  //   .reader_func = [](const Dataset& shards) {
  //     return shards.shuffle(8).flat_map([](const Dataset& shard) { return shard; });
  //   }
  std::function<Dataset(const Dataset&)> reader_func = {};
};

namespace experimental {
inline constexpr std::int64_t AUTOTUNE = data::AUTOTUNE;

struct MapAndBatchOptions {
  bool drop_remainder = false;
  std::int64_t num_parallel_calls = 0;
};
// For apply(): map(f), then batch(batch_size).
template <class F>
auto map_and_batch(F f, std::int64_t batch_size, MapAndBatchOptions options = {}) {
  return [f = std::move(f), batch_size, options](const Dataset& dataset) {
    return dataset.map(f, {.num_parallel_calls = options.num_parallel_calls})
        .batch(batch_size, {.drop_remainder = options.drop_remainder});
  };
}
// For apply(): ragged_batch(batch_size).
inline auto dense_to_ragged_batch(std::int64_t batch_size, BatchOptions options = {}) {
  return [batch_size, options](const Dataset& dataset) {
    return dataset.ragged_batch(batch_size, options);
  };
}
}  // namespace experimental

}  // namespace data
}  // namespace RILL_API
