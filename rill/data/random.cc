#include "rill/base/philox.h"
#include "rill/data/dataset_impl.h"
#include "rill/ops/array_ops.h"

namespace rill::data {
namespace {

class RandomCursor final : public Cursor {
 public:
  explicit RandomCursor(const Pass::Stream& stream) : stream_(stream) {}
  bool next(Nest* element) override {
    if (at_ % 4 == 0) draw();
    const Tensor t = make_tensor(int64, TensorShape::scalar());
    *mutable_data<std::int64_t>(t) = group_[static_cast<std::size_t>(at_++ % 4)];
    *element = Nest(t);
    return true;
  }
  std::int64_t skip(std::int64_t n) override {
    at_ += n;
    if (at_ % 4 != 0) draw();
    return n;
  }
  void save(StateWriter& out) override {
    out.stage("RandomDataset");
    out.put(at_);
  }
  void restore(StateReader& in) override {
    in.stage("RandomDataset");
    at_ = in.integer(0, INT64_MAX);
    if (at_ % 4 != 0) draw();
  }

 private:
  // The group of four numbers that the next one is in. Passes begin so far apart that they do not
  // meet.
  void draw() {
    Philox generator(static_cast<std::uint64_t>(stream_.seed), stream_.number << 40,
                     static_cast<std::uint64_t>(stream_.seed2));
    generator.skip(static_cast<std::uint64_t>(at_ / 4));
    group_ = generator();
  }
  Pass::Stream stream_;
  Philox::Group group_{};
  std::int64_t at_ = 0;
};

class RandomDataset final : public DatasetImpl {
 public:
  RandomDataset(std::int64_t seed, bool again) : random_(seed), again_(again) {}
  const char* name() const override { return "RandomDataset"; }
  std::int64_t cardinality() const override { return INFINITE_CARDINALITY; }
  std::unique_ptr<Cursor> make_cursor(Place place) const override {
    if (again_) return std::make_unique<RandomCursor>(place.pass->stream_of(random_));
    Pass::Stream stream = random_.without_pass();
    stream.number = 0;
    return std::make_unique<RandomCursor>(stream);
  }

 protected:
  ElementSpec make_spec() const override {
    return ElementSpec(TensorSpec(TensorShape::scalar(), int64));
  }

 private:
  RandomSource random_;
  bool again_;  // other numbers at each pass
};

}  // namespace

Dataset random_bits(std::int64_t seed, bool rerandomize_each_iteration) {
  return make_dataset<RandomDataset>(seed, rerandomize_each_iteration);
}
Dataset Dataset::random(const Size& seed) {
  if (seed.is_symbolic())
    return make_recipe(random(0), {}, {seed.tensor()},
                       [seed](const Bindings& b) { return random(b.of(seed)); });
  return random_bits(seed, false);
}

}  // namespace rill::data
