#include "rill/data/dataset_impl.h"

namespace rill::data {
namespace {

// The options are for the stages before it: they are set before those begin.
class OptionsDataset final : public UnaryDataset {
 public:
  OptionsDataset(const Dataset& input, const Options& options)
      : UnaryDataset(input), options_(options) {}
  const char* name() const override { return "OptionsDataset"; }
  std::unique_ptr<Cursor> make_cursor(Place place) const override {
    place.pass->set_options(options_);
    return input().start(place);
  }
  const Rows* source_rows() const override { return input().source_rows(); }

 private:
  Options options_;
};

}  // namespace

Dataset Dataset::with_options(const Options& options) const {
  RILL_CHECK(options.autotune.cpu_budget >= 0 && options.autotune.ram_budget >= 0, invalid_argument,
             "[with_options] autotune has cpu_budget {} and ram_budget {}; expected numbers of "
             "threads and bytes, or 0",
             options.autotune.cpu_budget, options.autotune.ram_budget);
  return make_dataset<OptionsDataset>(*this, options);
}

}  // namespace rill::data
