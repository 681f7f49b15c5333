#include "rill/data/composite_rows_impl.h"
#include "rill/data/dataset_impl.h"

namespace rill::data {
namespace {

class UnbatchCursor final : public UnaryCursor {
 public:
  using UnaryCursor::UnaryCursor;
  bool next(Nest* element) override {
    while (at_ == rows_) {
      if (!input_->next(&batch_)) return false;
      open();
    }
    if (leaves_.empty()) {  // composites are among them
      *element = cut_row(batch_, at_++);
      return true;
    }
    std::vector<Tensor> parts;
    for (const Tensor& t : leaves_)
      parts.push_back(make_view(t, row_shape(t.shape()), at_ * (t.size() / rows_)));
    ++at_;
    *element = batch_.with_leaves(parts);
    return true;
  }
  void save(StateWriter& out) override {
    out.stage("UnbatchDataset");
    out.put(at_);
    out.put(rows_);
    if (at_ < rows_) out.put(batch_);
    input_->save(out);
  }
  void restore(StateReader& in) override {
    in.stage("UnbatchDataset");
    const std::int64_t at = in.integer(0, INT64_MAX), rows = in.integer(at, INT64_MAX);
    at_ = rows_ = 0;
    if (at < rows) {
      batch_ = in.nest();
      open();
      RILL_CHECK(rows == rows_, data_loss,
                 "[Iterator.restore] the state is damaged: a batch has {} rows, not {}", rows_,
                 rows);
      at_ = at;
    }
    input_->restore(in);
  }

 private:
  void open() {
    at_ = rows_ = 0;
    leaves_.clear();
    if (holds_composite(batch_)) {
      rows_ = count_rows(batch_, "unbatch");
      return;
    }
    leaves_ = batch_.flatten();
    RILL_CHECK(!leaves_.empty(), invalid_argument, "[unbatch] the element has no component");
    for (std::size_t i = 0; i < leaves_.size(); ++i) {
      leaves_[i] = to_host(leaves_[i]);
      RILL_CHECK(leaves_[i].ndim() >= 1, invalid_argument,
                 "[unbatch] component {} is a scalar: {}; expected a batch of rows", i,
                 batch_.to_string());
      RILL_CHECK(leaves_[i].shape().dim(0) == leaves_[0].shape().dim(0), invalid_argument,
                 "[unbatch] component 0 has {} rows, component {} has {}; expected the same",
                 leaves_[0].shape().dim(0), i, leaves_[i].shape().dim(0));
    }
    rows_ = leaves_[0].shape().dim(0);
  }
  Nest batch_;
  std::vector<Tensor> leaves_;
  std::int64_t at_ = 0, rows_ = 0;
};

class UnbatchDataset final : public UnaryDataset {
 public:
  using UnaryDataset::UnaryDataset;
  const char* name() const override { return "UnbatchDataset"; }
  std::int64_t cardinality() const override {
    const std::int64_t n = input().cardinality();
    if (n < 0) return n;
    if (input().spec().holds_composite()) return UNKNOWN_CARDINALITY;
    const std::vector<TensorSpec> specs = input().spec().flatten();
    for (const TensorSpec& s : specs)
      if (s.shape().has_rank() && s.shape().rank() > 0 && s.shape().dim(0) >= 0)
        return n * s.shape().dim(0);
    return UNKNOWN_CARDINALITY;
  }
  std::unique_ptr<Cursor> make_cursor(Place place) const override {
    return std::make_unique<UnbatchCursor>(input().start(place));
  }

 protected:
  ElementSpec make_spec() const override {
    for (const TensorSpec& s : input().spec().flatten())
      RILL_CHECK(!s.shape().has_rank() || s.shape().rank() > 0, invalid_argument,
                 "[unbatch] elements are {}, with a scalar among them; expected batches of rows",
                 input().spec().to_string());
    return row_spec(input().spec());
  }
};

}  // namespace

Dataset Dataset::unbatch() const { return make_dataset<UnbatchDataset>(*this); }

}  // namespace rill::data
