#pragma once
#include <functional>
#include <memory>
#include <mutex>
#include <tuple>
#include <vector>

#include "rill/base/check.h"
#include "rill/core/tensor_impl.h"
#include "rill/data/autotune_impl.h"
#include "rill/data/dataset.h"
#include "rill/data/state_impl.h"
#include "rill/ops/random/seeds.h"

// What is behind Dataset and Iterator. A dataset is a chain (or tree) of
// DatasetImpls; an iterator is the same tree of cursors.
namespace rill::data {

inline std::uint64_t mix(std::uint64_t a, std::uint64_t b) {
  std::uint64_t x = a + 0x9E3779B97F4A7C15 * (b + 1);
  x = (x ^ x >> 30) * 0xBF58476D1CE4E5B9;
  x = (x ^ x >> 27) * 0x94D049BB133111EB;
  return x ^ x >> 31;
}

// The random stream of a dataset that draws: its seeds, and how many passes
// have begun, for each has its own numbers.
class RandomSource {
 public:
  explicit RandomSource(std::int64_t seed = -1)
      : seeded(seed >= 0), stream_(dataset_stream(seed)) {}
  struct Stream {
    std::int64_t seed, seed2;
    std::uint64_t number;  // of the pass
  };
  // Of a pass that begins; of none.
  Stream next_pass() const;
  Stream without_pass() const;
  // The passes to come are those that come after `pass`, which may be of another process.
  void follow(const Stream& pass) const;
  // The cursors over one dataset that were started so far; a new one takes the number.
  std::uint64_t next_start() const;
  std::uint64_t starts() const;
  void set_starts(std::uint64_t starts) const;
  const bool seeded;

 private:
  mutable std::mutex mutex_;
  mutable RandomStream stream_;
  mutable std::uint64_t passes_ = 0, starts_ = 0;
};

class Probe;
class StageProbe;

// What the cursors of one iterator share: the stream of each random source in
// it. They are numbered by the order in which the cursors are made, which is
// the same for equal pipelines, so that a saved list serves a new process.
class Pass {
 public:
  using Stream = RandomSource::Stream;
  Pass() = default;
  explicit Pass(std::vector<Stream> saved) : saved_(std::move(saved)) {}
  // Of a dataset that a user's function returned for one element: without a seed
  // it draws by the stream of the stage that called the function, which a saved
  // state knows, and its place already tells its passes apart.
  static std::unique_ptr<Pass> nested(const Stream& outer);

  Stream stream_of(const RandomSource& source);
  bool is_nested() const { return nested_; }
  void save(StateWriter& out) const;
  static std::unique_ptr<Pass> restore(StateReader& in);
  // The next passes over the same datasets follow this one.
  void lead() const;

  // The first, which is that of the last stage, counts.
  void set_options(const Options& options);
  const Options& options() const { return options_; }
  AutotuneBudget& autotune() { return shared_ ? *shared_ : autotune_; }
  // Of a dataset in another: the options, the memory and the measuring of the pass around it, which
  // outlives this one.
  void inherit(Pass& outer);
  // Not null: the stages of this iterator are measured.
  Probe* probe() const { return probe_; }
  void set_probe(Probe* probe) { probe_ = probe; }

 private:
  Probe* probe_ = nullptr;
  AutotuneBudget* shared_ = nullptr;
  Options options_;
  bool has_options_ = false;
  AutotuneBudget autotune_;
  mutable std::mutex mutex_;
  bool nested_ = false;
  Stream outer_{};
  std::vector<Stream> saved_;
  std::vector<std::pair<const RandomSource*, Stream>> streams_;
};

// Where a cursor stands: `path` tells apart the rounds of a repeat and the
// branches of a zip.
struct Place {
  Pass* pass;
  std::uint64_t path = 0;
  StageProbe* stage = nullptr;  // that asks for elements, where stages are measured
  Place branch(std::uint64_t i) const { return {pass, mix(path, i), stage}; }
};

// Rows that are known by number. Where a dataset is made of them, stages that
// only choose and order elements pass numbers on, and batch() gathers the rows
// straight into its buffer.
class Rows {
 public:
  virtual ~Rows() = default;
  virtual std::int64_t size() const = 0;
  // What tells it from another table, as far as numbers can.
  virtual Settings settings() const { return {{"number of elements", size()}}; }
  virtual Nest element(std::int64_t row) const = 0;
  virtual Nest gather(const std::int64_t* rows, std::int64_t n) const = 0;
};

// What a stage holds ready, and the threads that do so.
struct BufferUse {
  std::int64_t filled = 0, room = 0;  // elements; no room: it has no buffer
  std::int64_t bytes = 0;
  int threads = 0;
};

// A stage's place in its pass. Used by one thread at a time.
class Cursor {
 public:
  virtual ~Cursor() = default;
  virtual bool next(Nest* element) = 0;  // false at the end
  // REQUIRES: what save() wrote for a cursor of an equal dataset, and a cursor
  // that has not begun.
  virtual void save(StateWriter& out) = 0;
  virtual void restore(StateReader& in) = 0;

  // Not null: elements are rows of it, and next_rows() may be used.
  virtual const Rows* rows() const { return nullptr; }
  // The numbers of up to `n` next elements; 0 at the end only.
  virtual std::int64_t next_rows(std::int64_t* rows, std::int64_t n);
  // True: next_batch() gives up to `n` elements as one, along a new axis 0; 0 at the end. An error
  // takes the place of the batch.
  virtual bool makes_batches() const { return false; }
  virtual std::int64_t next_batch(std::int64_t n, Nest* batch);
  // Passes over `n` elements; how many there were.
  virtual std::int64_t skip(std::int64_t n);
  virtual BufferUse buffer() const { return {}; }

 protected:
  // next() of a cursor with rows().
  bool next_row(Nest* element);
};

// What explain() tells of a stage: "batch_size=32".
struct Fact {
  Fact(const char* n, bool v) : name(n), value(v ? "true" : "false") {}
  Fact(const char* n, std::int64_t v) : name(n), value(std::to_string(v)) {}
  Fact(const char* n, std::string v) : name(n), value(std::move(v)) {}
  // A number that may be AUTOTUNE.
  static Fact tuned(const char* n, std::int64_t v) {
    return v == AUTOTUNE ? Fact(n, std::string("AUTOTUNE")) : Fact(n, v);
  }
  const char* name;
  std::string value;
};
using Facts = std::vector<Fact>;

class DatasetImpl {
 public:
  virtual ~DatasetImpl() = default;
  virtual const char* name() const = 0;  // "BatchDataset"
  std::unique_ptr<Cursor> start(Place place) const;
  virtual std::unique_ptr<Cursor> make_cursor(Place place) const = 0;  // for start()
  // The stages before this one, what it was made with, and the files that it reads.
  virtual std::vector<const DatasetImpl*> inputs() const { return {}; }
  virtual Facts facts() const { return {}; }
  virtual std::vector<std::string> files() const { return {}; }
  virtual std::int64_t cardinality() const = 0;
  // Not null: every pass is over all rows of it, in order.
  virtual const Rows* source_rows() const { return nullptr; }
  const ElementSpec& spec() const;
  // An element such as there might be, to try a function on; zeros where nothing is known.
  virtual Nest specimen() const;

  RefCount refs;

 protected:
  virtual ElementSpec make_spec() const = 0;

 private:
  mutable std::once_flag spec_once_;
  mutable ElementSpec spec_;
};

// A transformation of one dataset; by default one that keeps its elements' form.
class UnaryDataset : public DatasetImpl {
 public:
  explicit UnaryDataset(const Dataset& input) : input_(input.ref()) {}
  const DatasetImpl& input() const { return *input_; }
  const Ref<DatasetImpl>& input_ref() const { return input_; }
  std::vector<const DatasetImpl*> inputs() const override { return {input_.get()}; }
  std::int64_t cardinality() const override { return input_->cardinality(); }

 protected:
  ElementSpec make_spec() const override { return input_->spec(); }

 private:
  Ref<DatasetImpl> input_;
};

// A cursor over another; passes its rows on when it says so.
class UnaryCursor : public Cursor {
 public:
  explicit UnaryCursor(std::unique_ptr<Cursor> input) : input_(std::move(input)) {}

 protected:
  std::unique_ptr<Cursor> input_;
};

// Values in the place of the symbols that recipes are made with.
class Bindings {
 public:
  // REQUIRES: as many values as symbols.
  Bindings(const std::vector<Tensor>& symbols, const std::vector<Tensor>& values);
  Tensor of(const Tensor& t) const;  // itself where it is no symbol
  std::int64_t of(const Size& size) const;
  Nest of(const Nest& nest) const;
  // Instances of recipes, of which each is made once.
  Dataset of(const Dataset& dataset) const;

 private:
  const std::vector<Tensor>&symbols_, &values_;
  mutable std::vector<std::pair<const DatasetImpl*, Dataset>> made_;
};

// The same symbolic tensor without its graph, for recipes to keep: a recipe becomes part of the
// graph that runs it. Other tensors stay as they are.
Tensor without_graph(const Tensor& t);
Nest without_graph(const Nest& nest);

// A dataset that depends on symbolic tensors: it has elements when values stand in their place.
class Recipe : public DatasetImpl {
 public:
  // `like` tells what elements are like, and need have none. REQUIRES: symbols without_graph(), in
  // `make`, too.
  Recipe(const Dataset& like, std::vector<Tensor> symbols,
         std::function<Dataset(const Bindings&)> make);
  const char* name() const override { return like_.impl().name(); }
  std::int64_t cardinality() const override { return UNKNOWN_CARDINALITY; }
  std::unique_ptr<Cursor> make_cursor(Place place) const override;
  std::vector<const DatasetImpl*> inputs() const override { return like_.impl().inputs(); }
  Facts facts() const override;
  const Dataset& like() const { return like_; }
  const std::vector<Tensor>& symbols() const { return symbols_; }
  Dataset instance(const Bindings& values) const { return make_(values); }

 protected:
  ElementSpec make_spec() const override { return like_.element_spec(); }

 private:
  Dataset like_;
  std::vector<Tensor> symbols_;
  std::function<Dataset(const Bindings&)> make_;
};
const Recipe* as_recipe(const Dataset& dataset);  // null for another one
// A recipe of `like`, with the symbols of `inputs` and of `sizes`.
Dataset make_recipe(const Dataset& like, const std::vector<Dataset>& inputs,
                    const std::vector<Tensor>& symbols,
                    std::function<Dataset(const Bindings&)> make);
// A transformation of one dataset by sizes of which one is a symbol: `like` is it with other sizes.
template <class F>
Dataset sized_recipe(const Dataset& input, const Size& size, const Dataset& like, F make) {
  return make_recipe(like, {input}, {size.tensor()},
                     [=](const Bindings& b) { return make(b.of(input), b.of(size)); });
}
// In a traced function: what `f` gives when the function runs and the symbols of the dataset, and
// `more`, have values; symbols of this form.
Nest run_recipe(const Dataset& dataset, const std::vector<Tensor>& more, const ElementSpec& result,
                std::function<Nest(const Dataset&, const Bindings&)> f);
// A dataset with elements such as those of a recipe; others stay as they are.
Dataset like_of(const Dataset& dataset);

namespace detail {
template <class T>
std::vector<Dataset> datasets_in(const T&) {
  return {};
}
inline std::vector<Dataset> datasets_in(const Dataset& d) { return {d}; }
inline std::vector<Dataset> datasets_in(const std::vector<Dataset>& list) { return list; }
template <class T>
const T& likes_of(const T& v) {
  return v;
}
inline Dataset likes_of(const Dataset& d) { return like_of(d); }
std::vector<Dataset> likes_of(const std::vector<Dataset>& list);
template <class T>
const T& bound(const T& v, const Bindings&) {
  return v;
}
inline Dataset bound(const Dataset& d, const Bindings& b) { return b.of(d); }
std::vector<Dataset> bound(const std::vector<Dataset>& list, const Bindings& b);
template <class T>
inline constexpr bool kHoldsDatasets = std::is_same_v<std::remove_cvref_t<T>, Dataset> ||
                                       std::is_same_v<std::remove_cvref_t<T>, std::vector<Dataset>>;
}  // namespace detail

// Of recipes a recipe.
template <class D, class... A>
Dataset make_dataset(A&&... args) {
  if constexpr ((detail::kHoldsDatasets<A> || ...)) {
    std::vector<Dataset> inputs;
    for (const auto& list : {detail::datasets_in(args)...})
      for (const Dataset& d : list)
        if (as_recipe(d)) inputs.push_back(d);
    if (!inputs.empty())
      return make_recipe(Dataset(Ref<DatasetImpl>(new D(detail::likes_of(args)...))), inputs, {},
                         [copies = std::tuple<std::decay_t<A>...>(args...)](const Bindings& b) {
                           return std::apply(
                               [&](const auto&... a) {
                                 return Dataset(Ref<DatasetImpl>(new D(detail::bound(a, b)...)));
                               },
                               copies);
                         });
  }
  return Dataset(Ref<DatasetImpl>(new D(std::forward<A>(args)...)));
}

// Dataset::random, with other numbers at each pass or the same.
Dataset random_bits(std::int64_t seed, bool rerandomize_each_iteration);

// Whether one of its tensors is a symbol.
bool is_symbolic(const Nest& nest);
// Elements like these, of which there are none.
Dataset dataset_of_spec(const ElementSpec& spec);

// The user's function on one element: as plain C++ in the program's default
// state, whatever tape or trace its caller has open, with random numbers of the
// element alone. Errors tell which stage and element.
class UserCall {
 public:
  UserCall(const char* stage, const RandomSource& source, Place place)
      : stage_(stage),
        stream_(place.pass->stream_of(source)),
        path_(place.path),
        probe_(place.stage) {}
  Nest operator()(const detail::Fn& f, const Nest& element, std::int64_t index) const;

 private:
  const char* stage_;
  Pass::Stream stream_;
  std::uint64_t path_;
  StageProbe* probe_;
};
// The truth of what a predicate returned.
bool is_true(const Nest& result, const char* stage);

// A shape without its axis 0 (unknown stays unknown), and with one of n before it.
TensorShape row_shape(const TensorShape& shape);
TensorShape with_rows(const TensorShape& row, std::int64_t n);

// n elements as one, along a new axis 0. InvalidArgument, naming `stage`, when
// their structures, dtypes or shapes differ.
Nest stack(const std::vector<Nest>& elements, const char* stage);
// Unimplemented where a composite is among the components: its tensors are not rows of it.
void refuse_composites(const Nest& element, const char* stage);
// One shape a component.
Nest stack_padded(const std::vector<Nest>& elements, const std::vector<TensorShape>& shapes,
                  const std::vector<Tensor>& padding, const char* stage);

// A dataset as an element of another: a list of elements, which are like a component of those of
// `like`, where it is given.
Nest list_as_nest(std::vector<Nest> elements, const Ref<DatasetImpl>& like = {},
                  std::size_t component = 0);
// The elements of such a list; null when the tensor is something else.
const std::vector<Nest>* listed_elements(const Tensor& t);

// Copies element i of `from` to element j of `to`, `count` elements. Of host
// tensors of one dtype.
void copy_elements(const Tensor& to, std::int64_t j, const Tensor& from, std::int64_t i,
                   std::int64_t count);

}  // namespace rill::data
