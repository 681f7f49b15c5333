// Events of devices whose queue runs on the host: entries of the queue that say when they ran.
#include <chrono>
#include <condition_variable>
#include <mutex>

#include "rill/base/check.h"
#include "rill/core/device.h"

namespace rill {

DeviceEvent::~DeviceEvent() = default;

namespace {

class QueueEvent final : public DeviceEvent {
 public:
  void reach() {
    std::lock_guard lock(mutex_);
    at_ = std::chrono::steady_clock::now();
    reached_ = true;
    changed_.notify_all();
  }
  bool reached() const override {
    std::lock_guard lock(mutex_);
    return reached_;
  }
  void wait() const override {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return reached_; });
  }
  double milliseconds_since(const DeviceEvent& start) const override {
    const auto* from = dynamic_cast<const QueueEvent*>(&start);
    RILL_CHECK(from, invalid_argument,
               "[device event] the start is an event of another kind of device, whose clock is "
               "another one; record both on one device");
    wait();
    from->wait();
    return std::chrono::duration<double, std::milli>(at_ - from->at_).count();
  }

 private:
  mutable std::mutex mutex_;
  mutable std::condition_variable changed_;
  bool reached_ = false;
  std::chrono::steady_clock::time_point at_;  // constant once it is reached
};

}  // namespace

std::shared_ptr<DeviceEvent> Device::record_event() {
  auto event = std::make_shared<QueueEvent>();
  enqueue([event] { event->reach(); });
  return event;
}

void Device::wait_for(const std::shared_ptr<DeviceEvent>& event) {
  enqueue([event] { event->wait(); });
}

}  // namespace rill
