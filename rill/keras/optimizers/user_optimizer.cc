// Optimizers of users' classes.
#include <set>

#include "rill/keras/optimizers/optimizer_options_impl.h"
#include "rill/keras/registry/class_name_impl.h"
#include "rill/keras/registry/class_registry_impl.h"

namespace rill::keras {

namespace {

ClassRegistry<std::function<Optimizer(const Config&)>>& known_optimizers() {
  static auto* k = new ClassRegistry<std::function<Optimizer(const Config&)>>;
  return *k;
}

// Names are asked for as long as the program runs.
const char* kept(const std::string& name) {
  static std::mutex mutex;
  static auto* all = new std::set<std::string>;
  const std::lock_guard lock(mutex);
  return all->insert(name).first->c_str();
}

std::vector<SlotGroup> groups_of(const optimizers::UserOptimizer& object) {
  SlotGroup group;
  for (const std::string& slot : object.slots()) group.push_back({kept(slot), kept(slot)});
  return group.empty() ? std::vector<SlotGroup>() : std::vector<SlotGroup>{group};
}

}  // namespace

namespace optimizers {

template <class F>
void own_fields(UserOptimizerOptions&, F) {}

UserOptimizerOptions UserOptimizerOptions::from_config(const Config& config) {
  return options_of<UserOptimizerOptions>(config);
}

std::optional<Optimizer> users_optimizer(std::string_view name, const Config& config) {
  if (const auto make = known_optimizers().find(name)) return make(config);
  return {};
}
std::vector<std::string> users_optimizer_names() { return known_optimizers().names(); }

namespace {

UserOptimizerOptions named(const UserOptimizer& object) {
  UserOptimizerOptions o = object.options();
  if (o.name.empty()) o.name = class_name_of(typeid(object));
  return o;
}

class UserOptimizerImpl final : public KerasOptimizerImpl {
 public:
  explicit UserOptimizerImpl(const std::shared_ptr<UserOptimizer>& object)
      : KerasOptimizerImpl(setup(kept(class_name_of(typeid(*object))), named(*object)),
                           groups_of(*object)),
        object_(object),
        slots_(object->slots()) {}
  std::string registered_name() const override {
    const UserOptimizer& object = *object_;
    return known_optimizers().name_of(typeid(object), class_name_of(typeid(object)));
  }
  Config config() const override {
    Config c = KerasOptimizerImpl::config();
    const Config own = object_->get_config();
    for (const std::string& key : own.keys()) c.set(key, own[key]);
    return c;
  }

 protected:
  void update(const Variable& v, const Gradient& g, const Number& lr, Step& step) override {
    UpdateContext context{scalar_for(v, lr), scalar_for(v, step.count), {}};
    for (const std::string& slot : slots_)
      context.slots.push_back(slot_variable(v, slot.c_str(), 0));
    object_->update_step(g.tensor(), v, context);
  }

 private:
  const std::shared_ptr<UserOptimizer> object_;
  const std::vector<std::string> slots_;
};

}  // namespace
}  // namespace optimizers

OptimizerImpl* Optimizer::by_object(std::shared_ptr<optimizers::UserOptimizer> object) {
  return new optimizers::UserOptimizerImpl(object);
}

RegisterOptimizer::RegisterOptimizer(std::string_view name, const std::type_info& type,
                                     std::function<Optimizer(const Config&)> f) {
  known_optimizers().add(name, type, std::move(f));
}

}  // namespace rill::keras
