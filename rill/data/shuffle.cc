// Shuffled elements, in the order in which TensorFlow has them with the same seeds.
#include <algorithm>

#include "rill/base/philox.h"
#include "rill/data/dataset_impl.h"

namespace rill::data {
namespace {

struct PassSeeds {
  std::int64_t seed, seed2;
};

// The n-th of the 32-bit numbers that TensorFlow draws with two seeds.
class Words {
 public:
  explicit Words(const PassSeeds& s)
      : bits_(static_cast<std::uint64_t>(s.seed), 0, static_cast<std::uint64_t>(s.seed2)) {}
  std::uint32_t next() {
    if (drawn_++ % 4 == 0) group_ = bits_();
    return group_[static_cast<std::size_t>((drawn_ - 1) % 4)];
  }
  void skip(std::uint64_t n) {  // REQUIRES: nothing was drawn
    bits_.skip(n / 4);
    drawn_ = n;
    if (n % 4 != 0) group_ = bits_();
  }
  std::uint64_t drawn() const { return drawn_; }

 private:
  Philox bits_;
  Philox::Group group_{};
  std::uint64_t drawn_ = 0;
};

// What tf.data's seed generator gives to the n-th iterator over a dataset.
PassSeeds seeds_of_pass(const PassSeeds& dataset, std::uint64_t n) {
  Words words(dataset);
  words.skip(2 * n);
  const std::int64_t first = words.next();
  return {first, words.next()};
}

// A buffer that is drawn from in tf.data's order: the first element takes the place of the one
// drawn, and the next of the input, while there is one, comes behind the last.
template <class T>
class Ring {
 public:
  std::size_t size() const { return items_.size() - (ended_ ? head_ : 0); }
  void push(T item) { items_.push_back(std::move(item)); }  // REQUIRES: it was not drawn from
  // Leaves the first place vacant: fill() or end() comes before the next draw.
  T draw(std::size_t i) {
    const std::size_t at = ended_ ? head_ + i : (head_ + i) % items_.size();
    T out = std::move(items_[at]);
    if (at != head_) items_[at] = std::move(items_[head_]);
    return out;
  }
  void fill(T next) {
    items_[head_] = std::move(next);
    head_ = (head_ + 1) % items_.size();
  }
  void drop_first() {
    if (!ended_) {
      std::rotate(items_.begin(), items_.begin() + static_cast<std::ptrdiff_t>(head_),
                  items_.end());
      head_ = 0;
      ended_ = true;
    }
    ++head_;
  }
  // One that is there, also where the first place is vacant; null: perhaps none.
  const T* sample() const {
    return size() < 2 ? nullptr : &items_[ended_ ? head_ + 1 : (head_ + 1) % items_.size()];
  }
  std::vector<T> in_order() const {
    std::vector<T> out;
    for (std::size_t i = 0; i < size(); ++i)
      out.push_back(items_[ended_ ? head_ + i : (head_ + i) % items_.size()]);
    return out;
  }
  void set(std::vector<T> items) {
    items_ = std::move(items);
    head_ = 0;
    ended_ = false;
  }

 private:
  std::vector<T> items_;
  std::size_t head_ = 0;  // where the first is
  bool ended_ = false;    // nothing is added any more: what is before the first is gone
};

// Draws from a buffer of the next elements. Of a source with rows the buffer
// holds their numbers only.
class ShuffleCursor final : public UnaryCursor {
 public:
  ShuffleCursor(std::unique_ptr<Cursor> input, std::int64_t size, const PassSeeds& seeds,
                const RandomSource& source, const Settings& settings)
      : UnaryCursor(std::move(input)),
        size_(size),
        settings_(settings),
        source_(source),
        seeds_(seeds),
        words_(seeds) {}

  const Rows* rows() const override { return input_->rows(); }
  bool next(Nest* element) override {
    if (rows()) return next_row(element);
    refill();
    if (elements_.size() == 0) return false;
    *element = elements_.draw(place(elements_.size()));
    vacant_ = true;
    return true;
  }
  std::int64_t next_rows(std::int64_t* rows, std::int64_t n) override {
    std::int64_t done = 0;
    while (done < n) {
      fill();
      if (numbers_.size() == 0) break;
      if (input_ended_) {  // what is left, without asking for more
        rows[done++] = numbers_.draw(place(numbers_.size()));
        numbers_.drop_first();
        continue;
      }
      // The buffer is full: as many draws as there are new elements to come in for those drawn.
      const std::int64_t got = input_->next_rows(rows + done, n - done);
      input_ended_ = got == 0;
      for (std::int64_t i = 0; i < got; ++i) {
        const std::int64_t next = rows[done + i];
        rows[done + i] = numbers_.draw(place(numbers_.size()));
        numbers_.fill(next);
      }
      done += got;
    }
    return done;
  }

  BufferUse buffer() const override {
    BufferUse use{.filled = static_cast<std::int64_t>(elements_.size() + numbers_.size()),
                  .room = size_,
                  .bytes = static_cast<std::int64_t>(numbers_.size() * sizeof(std::int64_t))};
    // By one element, for the buffer may be large.
    if (const Nest* element = elements_.sample()) use.bytes = bytes_of(*element) * use.filled;
    return use;
  }
  void save(StateWriter& out) override {
    if (vacant_) refill();  // a place without an element cannot be written
    out.stage("ShuffleDataset", settings_);
    input_->save(out);
    out.put(std::int64_t{kInTensorFlowsOrder} + (input_ended_ ? 1 : 0));
    out.put(seeds_.seed);
    out.put(seeds_.seed2);
    out.put(static_cast<std::int64_t>(source_.starts()));
    out.put(static_cast<std::int64_t>(words_.drawn()));
    out.put(numbers_.in_order());
    out.put(elements_.in_order());
  }
  void restore(StateReader& in) override {
    in.stage("ShuffleDataset", settings_);
    input_->restore(in);
    const std::int64_t form = in.integer(0, kInTensorFlowsOrder + 1);
    RILL_CHECK(form >= kInTensorFlowsOrder, unimplemented,
               "[Iterator.restore] the state was saved by an earlier version of Rill, which "
               "shuffled in another order; begin the pass anew");
    input_ended_ = form > kInTensorFlowsOrder;
    seeds_.seed = in.integer();
    seeds_.seed2 = in.integer();
    source_.set_starts(static_cast<std::uint64_t>(in.integer()));
    words_ = Words(seeds_);
    words_.skip(static_cast<std::uint64_t>(in.integer()));
    std::vector<std::int64_t> numbers = in.list();
    for (std::int64_t row : numbers)
      RILL_CHECK(rows() && row >= 0 && row < rows()->size(), data_loss,
                 "[Iterator.restore] the state is damaged: a shuffle buffer holds row {}", row);
    numbers_.set(std::move(numbers));
    elements_.set(in.nests());
    vacant_ = false;
  }

 private:
  // What says so in a state; 0 and 1 stand there in those of versions with an order of their own.
  static constexpr std::int64_t kInTensorFlowsOrder = 2;

  void refill() {
    Nest one;
    if (vacant_) {
      if (!input_ended_ && input_->next(&one)) {
        elements_.fill(std::move(one));
      } else {
        input_ended_ = true;
        elements_.drop_first();
      }
      vacant_ = false;
    }
    while (!input_ended_ && static_cast<std::int64_t>(elements_.size()) < size_) {
      one = Nest();
      if (input_->next(&one))
        elements_.push(std::move(one));
      else
        input_ended_ = true;
    }
  }
  void fill() {
    std::vector<std::int64_t> more;
    while (!input_ended_ && static_cast<std::int64_t>(numbers_.size()) < size_) {
      // In steps, for the buffer may be said to be larger than the dataset.
      more.resize(static_cast<std::size_t>(
          std::min<std::int64_t>(size_ - static_cast<std::int64_t>(numbers_.size()), 4096)));
      const std::int64_t got =
          input_->next_rows(more.data(), static_cast<std::int64_t>(more.size()));
      for (std::int64_t i = 0; i < got; ++i) numbers_.push(more[static_cast<std::size_t>(i)]);
      input_ended_ = got == 0;
    }
  }
  std::size_t place(std::size_t n) { return words_.next() % n; }

  std::int64_t size_;
  const Settings& settings_;
  const RandomSource& source_;
  bool input_ended_ = false;
  PassSeeds seeds_;
  Words words_;
  Ring<std::int64_t> numbers_;
  Ring<Nest> elements_;
  bool vacant_ = false;  // of elements_, the place of the one drawn last
};

class ShuffleDataset final : public UnaryDataset {
 public:
  ShuffleDataset(const Dataset& input, std::int64_t size, const ShuffleOptions& o)
      : UnaryDataset(input),
        size_(size),
        reshuffle_(o.reshuffle_each_iteration),
        settings_{{"buffer_size", size},
                  {"seed", std::max<std::int64_t>(o.seed, -1)},
                  {"reshuffle_each_iteration", reshuffle_}},
        random_(o.seed) {}
  const char* name() const override { return "ShuffleDataset"; }
  Facts facts() const override {
    return {{"buffer_size", size_},
            {"seed", settings_[1].value},
            {"reshuffle_each_iteration", reshuffle_}};
  }
  std::unique_ptr<Cursor> make_cursor(Place place) const override {
    const Pass::Stream stream = place.pass->stream_of(random_);
    PassSeeds seeds{stream.seed, stream.seed2};
    if (seeds.seed == 0 && seeds.seed2 == 0) seeds.seed2 = INT32_MAX;  // 0 and 0 mean by chance
    // Passes that begin one after another are counted. Those over a dataset inside the function
    // of a stage begin on any of its threads: their place tells them apart.
    if (reshuffle_)
      seeds = place.pass->is_nested() ? seeds_of_pass(seeds, mix(place.path, stream.number) >> 8)
                                      : seeds_of_pass(seeds, random_.next_start());
    return std::make_unique<ShuffleCursor>(input().start(place), size_, seeds, random_, settings_);
  }

 private:
  std::int64_t size_;
  bool reshuffle_;
  Settings settings_;
  RandomSource random_;
};

}  // namespace

Dataset Dataset::shuffle(const Size& size, ShuffleOptions options) const {
  if (size.is_symbolic() || options.seed.is_symbolic())
    return make_recipe(like_of(*this), {*this}, {size.tensor(), options.seed.tensor()},
                       [input = *this, size, options](const Bindings& b) {
                         ShuffleOptions o = options;
                         o.seed = b.of(options.seed);
                         return b.of(input).shuffle(b.of(size), o);
                       });
  std::int64_t buffer_size = size;
  // Of a dataset that does not know its cardinality(), all.
  if (buffer_size == UNKNOWN_CARDINALITY) buffer_size = INT64_MAX;
  RILL_CHECK(buffer_size > 0, invalid_argument,
             "[shuffle] buffer_size is {}; expected a number greater than zero, or "
             "UNKNOWN_CARDINALITY for all elements",
             buffer_size);
  return make_dataset<ShuffleDataset>(*this, buffer_size, options);
}

}  // namespace rill::data
