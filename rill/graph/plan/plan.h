#pragma once
#include <atomic>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <vector>

#include "rill/core/kernel.h"
#include "rill/core/observer.h"
#include "rill/core/recording.h"
#include "rill/graph/ir/graph.h"

// How a graph runs for given shapes of its inputs. Making a plan works out every
// shape, folds what shapes alone decide, finds each kernel, and gives every value
// its place: in one arena, where values that do not live at the same time share
// memory; over an input of the same op that dies there; as a view of another; or,
// for results and for what ops of general form take, as its own tensor. Running
// it is then one walk over a flat list of kernel calls.
namespace rill {

struct PlanOptions {
  bool in_place = true;
  bool fold = true;
  bool fuse_elementwise = true;
  bool keep_filters = true;
};

class Plan {
 public:
  // REQUIRES: the graph outlives the plan and changes no more; one shape for each
  // argument, fully defined except for resources and variants.
  Plan(const Graph& graph, std::span<const TensorShape> input_shapes,
       std::span<Device* const> input_devices, Device* scope, int width,
       const PlanOptions& options = {});
  // Whether functions that use these variables and inputs can be planned: a device that
  // calls kernels late cannot.
  static bool possible(std::span<const Tensor> inputs);
  ~Plan();
  Plan(const Plan&) = delete;

  // Any number of threads may.
  std::vector<Tensor> run(std::span<const Tensor> inputs);

  // `scope`: the device of the caller's scope; null: none.
  bool fits(std::span<const Tensor> inputs, const Device* scope, int width) const;
  std::size_t arena_bytes() const;
  // The least that the values of the arena need at one time.
  std::size_t live_bytes() const { return live_bytes_; }
  // Counts of steps, by how they run; for explain().
  struct Counts {
    int kernels = 0, in_place = 0, general = 0, folded = 0, views = 0, groups = 0, grouped = 0,
        filters = 0;
  };
  const Counts& counts() const { return counts_; }
  std::string describe() const;  // one line a step
  // The steps as an observer would see them, without what only a run knows.
  std::vector<OpCall> calls() const;
  std::string explain() const;  // a few lines about the whole

 private:
  friend class Planner;
  enum class How : unsigned char { kernel, update, read, general, group, view };
  struct Step {
    How how = How::kernel;
    const Node* node = nullptr;
    KernelFn kernel = nullptr;
    Device* device = nullptr;
    AttrList attrs;
    std::int32_t in = 0, num_in = 0, out = 0, num_out = 0;  // ranges of views
    std::vector<std::int32_t> in_slots;   // general, update: what it takes as tensors
    std::vector<std::int32_t> out_slots;  // per output: the slot that it fills; -1: arena
    std::vector<std::int32_t> release;    // slots that are needed no more
    std::int32_t group = -1;              // index into groups_
    std::int32_t filter = -1;             // index into filters_
  };
  // Elementwise kernels that run together, tile by tile: what one gives the next stays
  // in the cache.
  struct Group {
    struct Member {
      const Node* node;
      KernelFn kernel;
      std::int32_t in, num_in, out;  // views
    };
    struct ViewPlan {
      enum class Kind : unsigned char { whole, fixed, local } kind;
      std::int64_t itemsize = 0;  // whole: bytes an element
      std::size_t offset = 0;     // local: into the scratch of a tile
    };
    std::vector<Member> members;
    std::string name;  // "Mul+Add"
    std::int32_t first_view = 0, num_views = 0;
    std::vector<ViewPlan> views;
    std::int64_t elements = 0, tile = 0;  // a whole number of periods
    std::size_t scratch = 0;              // bytes of a tile's inner values
    TensorShape tile_shape, tail_shape;
  };
  struct SlotInfo {
    DType dtype;
    TensorShape shape;                // not fully defined: known at run time only
    std::vector<std::int32_t> views;  // that show its memory
    Device* device = nullptr;         // where it is
    bool own = false;  // memory that a kernel's step makes, or the handle of a variable
  };
  // The filter of a convolution that may stay packed from run to run; see kept_filters.cc.
  struct KeptFilter {
    std::int32_t slot;           // whose tensor it is; -1: a constant
    const void* seen = nullptr;  // where it was in the run before
    int runs = 0, patience = 1;  // that it was there, and that it must be
    Tensor held;                 // the filter that is packed: what is held never changes
    const void* packed_from = nullptr;
    std::shared_ptr<PackedInput> packed;
    bool no_repack_needed = false;  // kernels read it as it is
  };
  // What one run needs for itself.
  struct Instance {
    std::vector<Ref<Buffer>> arenas;  // by device
    std::vector<TensorView> views;
    std::vector<Tensor> slots;
  };
  Instance* take();
  void give(Instance* i);
  void fill_slot(Instance& i, std::int32_t slot, Tensor t) const;
  void make_outputs(Instance& i, const Step& s, bool keep) const;
  void call_kernel(Instance& i, const Step& s, bool keep, PackedInput* packed = nullptr) const;
  void run_group(Instance& i, const Step& s) const;
  void run_chain(Instance& i, const Step& s) const;
  void find_filters();
  void call_convolution(Instance& i, const Step& s, bool keep) const;
  // `keep`: memory of its own stays for the next time.
  void run_step(Instance& i, const Step& s, std::vector<In>& in, bool keep = false) const;
  std::unique_ptr<Instance> make_instance() const;

  // A run on a device that can record is recorded and then queued in one go.
  struct Recorded {
    std::unique_ptr<Recording> recording;
    std::unique_ptr<Instance> instance;
    std::vector<Tensor> inputs;              // fixed places of the arguments on the device
    std::vector<std::uint64_t> held_inputs;  // which tensor each holds now
    struct Bound {
      VariableCell* cell;
      const void* data;
      bool updated;
    };
    std::vector<Bound> variables;
  };
  bool recordable() const;
  bool run_recorded(std::span<const Tensor> inputs, std::vector<Tensor>& results);
  std::unique_ptr<Recorded> make_recorded(std::span<const Tensor> inputs, Device& device) const;
  void record_steps(Recorded& r, Device& device, std::vector<In>& in);
  void run_held(Recorded& r, std::span<const Tensor> inputs, Device& device, bool first);
  std::vector<Tensor> results_of(const Recorded& r, Device& device) const;
  // The call that a step is, for observers; `i` null: as far as the plan knows.
  OpCall observed_call(const Step& s, const Instance* i) const;
  std::string_view why_general(const Step& s) const;

  const Graph& graph_;
  std::vector<TensorShape> input_shapes_;
  std::vector<Device*> input_devices_;
  Device* scope_;
  int width_;
  std::vector<Step> steps_;
  std::vector<Group> groups_;
  std::vector<TensorView> views_;        // of constants and, by offset, of the arena
  std::vector<std::ptrdiff_t> offsets_;  // per view: into its arena; -1: elsewhere
  std::vector<int> arena_of_;            // per view
  struct Arena {
    Device* device;
    std::size_t bytes = 0;
  };
  std::vector<Arena> arenas_;                         // the host's first
  std::vector<std::unique_ptr<TensorShape>> shapes_;  // that views point at
  std::vector<SlotInfo> slots_;
  std::vector<std::int32_t> arg_slots_;
  struct Result {
    std::int32_t slot;  // -1: the constant
    Tensor constant;
  };
  std::vector<Result> results_;
  std::vector<std::pair<std::int32_t, Tensor>> preset_;  // slots that are constants
  std::vector<Tensor> constants_;                        // kept alive
  std::size_t live_bytes_ = 0;
  Counts counts_;

  std::mutex mutex_;
  std::vector<std::unique_ptr<Instance>> idle_;

  mutable std::mutex filters_mutex_;
  mutable std::vector<KeptFilter> filters_;  // guarded by filters_mutex_ except for slots

  std::atomic<Device*> record_on_ = nullptr;  // null: nothing is recorded
  std::mutex record_mutex_;
  std::unique_ptr<Recorded> recorded_;  // guarded by record_mutex_, as are the next two
  int calls_ = 0, recordings_ = 0;
};

}  // namespace rill
