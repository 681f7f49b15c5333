#include "rill/core/test_device.h"

#include <sys/mman.h>
#include <unistd.h>

#include <condition_variable>
#include <cstring>
#include <deque>
#include <map>
#include <mutex>
#include <thread>
#include <utility>

#include "rill/base/check.h"

namespace rill {
namespace {

// One region of memory mapped twice: by the addresses that the host holds it
// cannot be touched, by those that kernels get it can.
class TestDevice : public Device {
 public:
  TestDevice() : Device(DeviceType::test, 0) {
    const int fd = memfd_create("rill_test_device", 0);
    RILL_CHECK(fd >= 0 && ftruncate(fd, kBytes) == 0, resource_exhausted,
               "the test device cannot reserve its memory");
    inside_ = static_cast<char*>(
        mmap(nullptr, kBytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, fd, 0));
    outside_ =
        static_cast<char*>(mmap(nullptr, kBytes, PROT_NONE, MAP_SHARED | MAP_NORESERVE, fd, 0));
    close(fd);
    RILL_CHECK(inside_ != MAP_FAILED && outside_ != MAP_FAILED, resource_exhausted,
               "the test device cannot map its memory");
    free_[0] = kBytes;
    worker_ = std::thread([this] { work(); });
    worker_.detach();  // lives as long as the process
  }

  void* allocate(std::size_t bytes) override {
    bytes = (bytes + 63) / 64 * 64 + 64;
    std::lock_guard lock(memory_mutex_);
    for (auto it = free_.begin(); it != free_.end(); ++it) {
      if (it->second < bytes) continue;
      const std::size_t offset = it->first, left = it->second - bytes;
      free_.erase(it);
      if (left) free_[offset + bytes] = left;
      return outside_ + offset;
    }
    RILL_FAIL(resource_exhausted, "device {} is out of memory: {} bytes wanted of {}", name(),
              bytes, kBytes);
  }

  void deallocate(void* p, std::size_t bytes) noexcept override {
    bytes = (bytes + 63) / 64 * 64 + 64;
    const std::size_t offset = static_cast<std::size_t>(static_cast<char*>(p) - outside_);
    enqueue([this, offset, bytes] {
      std::memset(inside_ + offset, 0xdb, bytes);  // use after free shows
      std::lock_guard lock(memory_mutex_);
      auto next = free_.emplace(offset, bytes).first;
      if (auto after = std::next(next); after != free_.end() && offset + bytes == after->first) {
        next->second += after->second;
        free_.erase(after);
      }
      if (next != free_.begin()) {
        if (auto before = std::prev(next); before->first + before->second == next->first) {
          before->second += next->second;
          free_.erase(next);
        }
      }
    });
  }

  void enqueue(std::function<void()> task) override {
    std::lock_guard lock(mutex_);
    queue_.push_back(std::move(task));
    wake_.notify_one();
  }

  void synchronize() override {
    std::unique_lock lock(mutex_);
    idle_.wait(lock, [this] { return queue_.empty() && !busy_; });
    if (code_ == Code::ok) return;
    const Code code = std::exchange(code_, Code::ok);
    const std::string message = std::move(message_);
    lock.unlock();
    throw_error(code, message);
  }

  void report(Code code, std::string message) override {
    std::lock_guard lock(mutex_);
    if (code_ == Code::ok) code_ = code, message_ = std::move(message);
  }

  void* kernel_address(void* p) const override {
    return inside_ + (static_cast<char*>(p) - outside_);
  }
  void copy(void* dst, const void* src, std::size_t bytes) override {
    enqueue([to = kernel_address(dst), from = kernel_address(const_cast<void*>(src)), bytes] {
      std::memcpy(to, from, bytes);
    });
  }
  void copy_from_host(void* dst, const void* src, std::size_t bytes) override {
    synchronize();
    std::memcpy(kernel_address(dst), src, bytes);
  }
  void copy_to_host(void* dst, const void* src, std::size_t bytes) override {
    synchronize();
    std::memcpy(dst, kernel_address(const_cast<void*>(src)), bytes);
  }

 private:
  static constexpr std::size_t kBytes = std::size_t{1} << 30;

  void work() {
    for (;;) {
      std::function<void()> task;
      {
        std::unique_lock lock(mutex_);
        busy_ = false;
        if (queue_.empty()) idle_.notify_all();
        wake_.wait(lock, [this] { return !queue_.empty(); });
        task = std::move(queue_.front());
        queue_.pop_front();
        busy_ = true;
      }
      std::this_thread::yield();  // late: the host runs on first
      task();
      task = nullptr;  // what the task held is given back before it counts as done
    }
  }

  char *inside_, *outside_;
  std::mutex memory_mutex_;
  std::map<std::size_t, std::size_t> free_;  // offset -> bytes
  std::mutex mutex_;
  std::condition_variable wake_, idle_;
  std::deque<std::function<void()>> queue_;
  bool busy_ = false;
  Code code_ = Code::ok;
  std::string message_;
  std::thread worker_;
};

}  // namespace

Device& test_device() {
  static Device& device = add_device(std::make_unique<TestDevice>());
  return device;
}

}  // namespace rill
