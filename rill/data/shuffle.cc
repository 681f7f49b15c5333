#include "rill/base/philox.h"
#include "rill/data/dataset_impl.h"

namespace rill::data {
namespace {

__extension__ using Wide = unsigned __int128;

// Draws from a buffer of the next elements. Of a source with rows the buffer
// holds their numbers only.
class ShuffleCursor final : public UnaryCursor {
 public:
  ShuffleCursor(std::unique_ptr<Cursor> input, std::int64_t size, const Pass::Stream& stream,
                std::uint64_t round, const Settings& settings)
      : UnaryCursor(std::move(input)),
        size_(size),
        settings_(settings),
        bits_(
            mix(static_cast<std::uint64_t>(stream.seed), static_cast<std::uint64_t>(stream.seed2)),
            0, round) {}

  const Rows* rows() const override { return input_->rows(); }
  bool next(Nest* element) override {
    if (rows()) return next_row(element);
    refill();
    if (elements_.empty()) return false;
    vacant_ = static_cast<std::int64_t>(draw(elements_.size()));
    *element = std::move(elements_[static_cast<std::size_t>(vacant_)]);
    return true;
  }
  std::int64_t next_rows(std::int64_t* rows, std::int64_t n) override {
    std::int64_t done = 0;
    while (done < n) {
      fill();
      if (numbers_.empty()) break;
      if (input_ended_) {  // what is left, without asking for more
        const std::size_t i = draw(numbers_.size());
        rows[done++] = numbers_[i];
        numbers_[i] = numbers_.back();
        numbers_.pop_back();
        continue;
      }
      // The buffer is full: as many draws as there are new elements to take the
      // places of those drawn.
      const std::int64_t got = input_->next_rows(rows + done, n - done);
      input_ended_ = got == 0;
      for (std::int64_t i = 0; i < got; ++i)
        std::swap(rows[done + i], numbers_[draw(numbers_.size())]);
      done += got;
    }
    return done;
  }

  BufferUse buffer() const override {
    BufferUse use{.filled = static_cast<std::int64_t>(elements_.size() + numbers_.size()),
                  .room = size_,
                  .bytes = static_cast<std::int64_t>(numbers_.size() * sizeof numbers_[0])};
    // By one element, for the buffer may be large; not by the place of the one drawn last.
    const std::size_t sample = vacant_ == 0 ? 1 : 0;
    if (sample < elements_.size()) use.bytes = bytes_of(elements_[sample]) * use.filled;
    return use;
  }
  void save(StateWriter& out) override {
    if (vacant_ >= 0) refill();  // a place without an element cannot be written
    out.stage("ShuffleDataset", settings_);
    input_->save(out);
    out.put(static_cast<std::int64_t>(input_ended_));
    out.put(static_cast<std::int64_t>(draws_));
    out.put(numbers_);
    out.put(elements_);
  }
  void restore(StateReader& in) override {
    in.stage("ShuffleDataset", settings_);
    input_->restore(in);
    input_ended_ = in.boolean();
    draws_ = static_cast<std::uint64_t>(in.integer());
    bits_.skip(draws_ / 2);
    if (draws_ % 2) group_ = bits_();
    numbers_ = in.list();
    elements_ = in.nests();
    for (std::int64_t row : numbers_)
      RILL_CHECK(rows() && row >= 0 && row < rows()->size(), data_loss,
                 "[Iterator.restore] the state is damaged: a shuffle buffer holds row {}", row);
  }

 private:
  // The place of the element drawn last goes to the next one of the input; at its
  // end to the last of the buffer.
  void refill() {
    Nest one;
    if (vacant_ >= 0) {
      Nest& place = elements_[static_cast<std::size_t>(vacant_)];
      if (!input_ended_ && input_->next(&one)) {
        place = std::move(one);
      } else {
        input_ended_ = true;
        place = elements_.back();
        elements_.pop_back();
      }
      vacant_ = -1;
    }
    while (!input_ended_ && static_cast<std::int64_t>(elements_.size()) < size_) {
      one = Nest();
      if (input_->next(&one))
        elements_.push_back(std::move(one));
      else
        input_ended_ = true;
    }
  }
  void fill() {
    while (!input_ended_ && static_cast<std::int64_t>(numbers_.size()) < size_) {
      // In steps, for the buffer may be said to be larger than the dataset.
      const std::size_t had = numbers_.size();
      const std::int64_t ask = std::min<std::int64_t>(size_ - static_cast<std::int64_t>(had), 4096);
      numbers_.resize(had + static_cast<std::size_t>(ask));
      const std::int64_t got = input_->next_rows(numbers_.data() + had, ask);
      numbers_.resize(had + static_cast<std::size_t>(got));
      input_ended_ = got == 0;
    }
  }
  // A number below n, of 64 random bits.
  std::size_t draw(std::size_t n) {
    if (draws_++ % 2 == 0) group_ = bits_();
    const std::size_t half = draws_ % 2 ? 0 : 2;
    const std::uint64_t word = group_[half] | std::uint64_t{group_[half + 1]} << 32;
    return static_cast<std::size_t>(static_cast<Wide>(word) * n >> 64);
  }

  std::int64_t size_;
  const Settings& settings_;
  bool input_ended_ = false;
  Philox bits_;
  Philox::Group group_{};
  std::uint64_t draws_ = 0;
  std::vector<std::int64_t> numbers_;
  std::vector<Nest> elements_;
  std::int64_t vacant_ = -1;  // place in elements_ of the one drawn last
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
    const std::uint64_t round = reshuffle_ ? mix(place.path, stream.number) : 0;
    return std::make_unique<ShuffleCursor>(input().start(place), size_, stream, round, settings_);
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
