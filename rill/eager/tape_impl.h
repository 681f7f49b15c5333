#pragma once
#include <atomic>
#include <functional>
#include <memory>
#include <vector>

#include "rill/core/execute.h"
#include "rill/core/gradient.h"
#include "rill/core/resource.h"

namespace rill {

// The gradients of the inputs, given those of the outputs.
using CustomGradFn =
    std::function<std::vector<Gradient>(const std::vector<Gradient>& output_gradients)>;

// From tensor id to slot: open addressing, since a look-up is on the path of
// every taped op.
class SlotTable {
 public:
  int find(std::uint64_t id) const {
    if (keys_.empty()) return -1;
    for (std::size_t i = hash(id);; i = (i + 1) & (keys_.size() - 1)) {
      if (keys_[i] == id) return slots_[i];
      if (keys_[i] == 0) return -1;
    }
  }
  int find_or_add(std::uint64_t id);
  int count() const { return count_; }
  void clear();

 private:
  std::size_t hash(std::uint64_t id) const {
    return (id * 0x9E3779B97F4A7C15ull >> 20) & (keys_.size() - 1);
  }
  void grow();
  std::vector<std::uint64_t> keys_;  // 0: free
  std::vector<std::int32_t> slots_;
  int count_ = 0;
};

// What a tape holds of one call. Lists live in the tape's flat arrays.
struct TapeRecord {
  const Op* op = nullptr;                // null: custom
  std::int32_t inputs = 0, outputs = 0;  // first index into slots_ and infos_ / counts
  std::int32_t num_inputs = 0, num_outputs = 0;
  std::int32_t saved = 0;                // first index into saved_
  std::int32_t attrs = -1, custom = -1;  // index into attrs_ / customs_
  bool raw = false;                      // a custom one that takes gradients as they come
  const char* file = nullptr;
  int line = 0;
};

class TapeStack;

class TapeImpl {
 public:
  TapeImpl(bool persistent, bool watch_accessed)
      : persistent_(persistent), watch_accessed_(watch_accessed) {}

  void watch(const Tensor& t);
  void record(const Op& op, std::span<const In> inputs, AttrList attrs,
              std::span<const Tensor> outputs);
  // `raw`: outputs that nothing depends on come as none, not as zeros.
  void record_custom(std::span<const Tensor> inputs, std::span<const Tensor> outputs,
                     CustomGradFn fn, bool raw = false);
  // A variable is about to be read: watched from now on if it is trainable and
  // the tape watches what is read.
  void access(const Tensor& handle);
  bool watches(const Tensor& t) const { return table_.find(t.id()) >= 0; }

  // Plays the tape backwards. `keep`: it will be played again.
  std::vector<Gradient> backward(const std::vector<Tensor>& targets,
                                 const std::vector<Gradient>& seeds,
                                 const std::vector<Tensor>& sources, bool keep);
  std::string why_none(const Tensor& target, const Tensor& source, bool source_is_variable) const;
  void clear();                  // keeps the memory
  std::size_t capacity() const;  // records it has room for
  void configure(bool persistent, bool watch_accessed) {
    persistent_ = persistent;
    watch_accessed_ = watch_accessed;
    used = false;
  }

  bool persistent() const { return persistent_; }
  bool used = false;  // a non-persistent tape has given its gradient
  int paused = 0;
  bool active = false;                  // on its thread's stack
  TapeStack* owner = nullptr;           // that stack, while active
  std::atomic<bool> abandoned = false;  // destroyed by another thread; its own drops it
  std::vector<Tensor> watched_handles;  // of variables, in the order of first use

  RefCount refs;

 private:
  friend class TapeGradContext;
  struct Info {
    DType dtype;
    TensorShape shape;
    Tensor symbolic = {};  // where the shape is not fully known while tracing
  };
  static Info info_of(const Tensor& t);
  // Something that depended on a watched tensor through which no gradient goes.
  struct Cut {
    std::uint64_t output;
    std::int32_t input_slot;
    const Op* op;
    const char* file;
    int line;
  };

  static Tensor zeros_for(const Info& info);
  bool any_watched(std::span<const In> inputs, std::int32_t* slots);
  void add_outputs(TapeRecord& r, std::span<const Tensor> outputs);
  void run_gradient(const TapeRecord& r, std::vector<Gradient>& acc,
                    const std::vector<char>& useful);
  void accumulate(std::vector<Gradient>& acc, std::int32_t slot, Gradient g);

  bool persistent_, watch_accessed_;
  SlotTable table_;
  std::vector<TapeRecord> records_;
  std::vector<std::int32_t> slots_;  // per record: its inputs, then its outputs; -1: not watched
  std::vector<Info> infos_;          // parallel to slots_
  std::vector<Tensor> saved_;
  std::vector<AttrStorage> attrs_;
  std::vector<CustomGradFn> customs_;
  std::vector<Cut> cuts_;
};

void retain(TapeImpl*) noexcept;
void release(TapeImpl*) noexcept;

// The tapes of a thread, innermost last.
class TapeStack : public Recorder {
 public:
  static TapeStack& of_thread();
  ~TapeStack() override;  // its thread ends: the tapes record no more
  void push(TapeImpl* tape);
  void remove(TapeImpl* tape);
  void record(const Op& op, std::span<const In> inputs, AttrList attrs,
              std::span<const Tensor> outputs) override;
  const std::vector<Ref<TapeImpl>>& tapes() const { return tapes_; }
  // Takes the tapes away while something runs that they must not see, and back.
  std::vector<Ref<TapeImpl>> set_aside();
  void bring_back(std::vector<Ref<TapeImpl>> tapes);

 private:
  std::vector<Ref<TapeImpl>> tapes_;
};

}  // namespace rill
