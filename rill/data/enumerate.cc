#include "rill/data/dataset_impl.h"

namespace rill::data {
namespace {

class EnumerateCursor final : public UnaryCursor {
 public:
  EnumerateCursor(std::unique_ptr<Cursor> input, std::int64_t start)
      : UnaryCursor(std::move(input)), start_(start), number_(start) {}
  bool next(Nest* element) override {
    Nest from;
    const Tensor number = make_tensor(int64, TensorShape::scalar());
    *mutable_data<std::int64_t>(number) = number_++;  // of an element that is an error, too
    if (!input_->next(&from)) return false;
    *element = Nest::make({Nest(number), from});
    return true;
  }
  void save(StateWriter& out) override {
    out.stage("EnumerateDataset", {{"start", start_}});
    out.put(number_);
    input_->save(out);
  }
  void restore(StateReader& in) override {
    in.stage("EnumerateDataset", {{"start", start_}});
    number_ = in.integer();
    input_->restore(in);
  }

 private:
  std::int64_t start_, number_;
};

class EnumerateDataset final : public UnaryDataset {
 public:
  EnumerateDataset(const Dataset& input, std::int64_t start) : UnaryDataset(input), start_(start) {}
  // TensorFlow builds it of a range and a zip, and so prints it.
  const char* name() const override { return "ZipDataset"; }
  std::unique_ptr<Cursor> make_cursor(Place place) const override {
    return std::make_unique<EnumerateCursor>(input().start(place), start_);
  }

 protected:
  ElementSpec make_spec() const override {
    return ElementSpec::tuple(
        {ElementSpec(TensorSpec(TensorShape::scalar(), int64)), input().spec()});
  }

 private:
  std::int64_t start_;
};

}  // namespace

Dataset Dataset::enumerate(std::int64_t start) const {
  return make_dataset<EnumerateDataset>(*this, start);
}

}  // namespace rill::data
