#include "rill/base/logging.h"
#include "rill/data/dataset_impl.h"

namespace rill::data {
namespace {

class IgnoreErrorsCursor final : public UnaryCursor {
 public:
  IgnoreErrorsCursor(std::unique_ptr<Cursor> input, bool log)
      : UnaryCursor(std::move(input)), log_(log) {}
  bool next(Nest* element) override {
    for (;;) {
      try {
        return input_->next(element);
      } catch (const errors::Error& e) {
        if (log_) RILL_LOG(warning, "[ignore_errors] an element is left out: {}", e.what());
      }
    }
  }
  void save(StateWriter& out) override {
    out.stage("IgnoreErrorsDataset");
    input_->save(out);
  }
  void restore(StateReader& in) override {
    in.stage("IgnoreErrorsDataset");
    input_->restore(in);
  }

 private:
  bool log_;
};

class IgnoreErrorsDataset final : public UnaryDataset {
 public:
  IgnoreErrorsDataset(const Dataset& input, bool log) : UnaryDataset(input), log_(log) {}
  const char* name() const override { return "IgnoreErrorsDataset"; }
  std::int64_t cardinality() const override { return UNKNOWN_CARDINALITY; }
  std::unique_ptr<Cursor> make_cursor(Place place) const override {
    return std::make_unique<IgnoreErrorsCursor>(input().start(place), log_);
  }

 private:
  bool log_;
};

}  // namespace

Dataset Dataset::ignore_errors(bool log_warning) const {
  return make_dataset<IgnoreErrorsDataset>(*this, log_warning);
}

}  // namespace rill::data
