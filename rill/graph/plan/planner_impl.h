#pragma once
#include <vector>

#include "rill/graph/plan/plan.h"

namespace rill {

// Makes one plan: shapes, constants, places. planner.cc has the most of it.
class Planner {
 public:
  Planner(Plan& plan, const PlanOptions& options) : p_(plan), g_(plan.graph_), o_(options) {}

  void run();

 private:
  enum class Where { none, constant, arena, slot, view };
  struct Value {
    DType dtype;
    TensorShape shape;
    Tensor constant;  // its value, where that is known
    Where where = Where::none;
    Device* device = &cpu_device();  // where its elements are
    Endpoint base;                   // of a view
    std::int32_t slot = -1;
    std::ptrdiff_t offset = -1;
    int born = -1, dies = -1;  // steps
    bool result = false;
    bool local = false;        // lives inside a tile of its group
    std::size_t scratch = 0;   // its place there
    std::int32_t shares = -1;  // index into placed_
  };

  static std::size_t id(const Node& n) { return static_cast<std::size_t>(n.id); }
  Value& value(Endpoint e) { return values_[id(*e.node)][static_cast<std::size_t>(e.index)]; }
  Endpoint root(Endpoint e);  // the value whose memory this one is

  // ---- shapes, constants, how each node runs

  void begin_arguments();
  std::int32_t new_slot(const Value& v);
  Tensor known(const Node& n, Endpoint e);
  void infer(const Node& n);
  void set_constant(const Node& n, const Tensor& t);
  void fold(const Node& n, const std::vector<In>& in, bool all_known);
  void drop_unused();
  bool static_shapes(const Node& n);
  KernelFn kernel_of(const Node& n);
  static Device* variable_device(const Node& arg);
  Device& device_of(const Node& n);
  bool inputs_in_place(const Node& n, const Device& device);
  bool host_values_known(const Node& n);
  bool assigns_in_place(const Node& n, const Device& device);
  void decide(const Node& n);
  void require_tensor(Endpoint e);
  int position(std::size_t i) const;
  void use_inputs(const Node& n, int step);

  // ---- memory

  struct Placed {
    Endpoint e;
    std::size_t bytes;
    int born, dies;
    std::ptrdiff_t offset = -1;
  };
  int arena_index(const Placed& v);
  void place_in_arena();

  // ---- groups of elementwise kernels: elementwise_groups.cc

  struct Found {
    std::vector<std::size_t> members;  // positions in order_
    std::int64_t elements = 0, period = 1;
    Device* device = nullptr;
    bool open = true;
    std::size_t scratch = 0;
  };
  bool has_room(const Found& f, std::size_t more);
  std::int64_t period_of(Endpoint e, const Value& out);
  bool fusable(std::size_t s, std::int64_t* period);
  void find_groups();
  int group_at(const Node* n);
  std::int64_t tile_of(const Found& f);
  void place_in_tile(Found& f);
  void emit_group(int which);

  // ---- steps

  const TensorShape* keep(const TensorShape& s);
  std::int32_t slot_of(Endpoint e);
  std::int32_t tensor_slot(Endpoint e);
  void add_view(Endpoint e, Device* device = nullptr);
  void emit();

  Plan& p_;
  const Graph& g_;
  const PlanOptions& o_;
  std::vector<std::vector<Value>> values_;  // by node and output
  std::vector<const Node*> order_;
  std::vector<Plan::How> how_;
  std::vector<char> is_view_;
  std::vector<int> group_of_;  // by position; -1: none
  std::vector<Found> found_;
  std::vector<int> place_of_;  // position, by node
  std::vector<Placed> placed_;
};

}  // namespace rill
