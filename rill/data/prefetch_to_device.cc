#include "rill/core/tensor_impl.h"
#include "rill/data/worker_impl.h"

namespace rill::data {
namespace {

Nest copied_to(const Nest& element, Device& device) {
  std::vector<Tensor> leaves = element.flatten();
  for (Tensor& t : leaves)
    if (t.defined() && t.dtype() != string && t.dtype().itemsize() > 0)
      t = copy_to_device(t, device);
  return element.with_leaves(leaves);
}

// Copies are queued by the thread that asks, in the order of its own work on the device, which
// therefore never waits for them: the copy of the next element is queued before the step that uses
// this one.
class DeviceCursor final : public UnaryCursor {
 public:
  DeviceCursor(std::unique_ptr<Cursor> input, Device& device)
      : UnaryCursor(std::move(input)), device_(device) {}

  bool next(Nest* element) override {
    Produced now = has_ahead_ ? std::move(ahead_) : pull();
    has_ahead_ = false;  // also after an error, which take() throws
    if (!now.take(element)) return false;
    ahead_ = pull();
    has_ahead_ = true;
    return true;
  }
  void save(StateWriter& out) override {
    out.stage("PrefetchToDeviceDataset");
    const bool ahead = has_ahead_ && !ahead_.at_end();
    out.put(static_cast<std::int64_t>(ahead));
    if (ahead) ahead_.save(out);
    input_->save(out);
  }
  void restore(StateReader& in) override {
    in.stage("PrefetchToDeviceDataset");
    has_ahead_ = in.boolean();
    if (has_ahead_) {
      Produced saved = Produced::restore(in);
      ahead_ = Produced::of([&](Nest* e) { return saved.take(e) && to_device(e); });
    }
    input_->restore(in);
  }

 private:
  bool to_device(Nest* element) {
    *element = copied_to(*element, device_);
    return true;
  }
  Produced pull() {
    return Produced::of([&](Nest* e) { return input_->next(e) && to_device(e); });
  }

  Device& device_;
  Produced ahead_;
  bool has_ahead_ = false;
};

class DeviceDataset final : public UnaryDataset {
 public:
  DeviceDataset(const Dataset& input, Device* device) : UnaryDataset(input), device_(*device) {}
  const char* name() const override { return "PrefetchToDeviceDataset"; }
  std::unique_ptr<Cursor> make_cursor(Place place) const override {
    return std::make_unique<DeviceCursor>(input().start(place), device_);
  }

 private:
  Device& device_;
};

}  // namespace

Dataset Dataset::prefetch_to_device(std::string_view device, std::int64_t buffer_size) const {
  return make_dataset<DeviceDataset>(prefetch(buffer_size), &find_device(device));
}

}  // namespace rill::data
