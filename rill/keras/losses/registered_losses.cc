// Losses of users' classes.
#include "rill/keras/losses/registered_losses.h"
#include "rill/base/check.h"
#include "rill/keras/losses/named_losses_impl.h"
#include "rill/keras/registry/class_registry_impl.h"

namespace rill::keras {

namespace {

ClassRegistry<std::function<LossRef(const Config&)>>& known() {
  static auto* k = new ClassRegistry<std::function<LossRef(const Config&)>>;
  return *k;
}

// "auto" is the mean too.
Config plain_reduction(const Config& c) {
  return c == Config("auto") ? Config("sum_over_batch_size") : c;
}

}  // namespace

RegisterLoss::RegisterLoss(std::string_view name, const std::type_info& type,
                           std::function<LossRef(const Config&)> f) {
  known().add(name, type, std::move(f));
}

std::string saved_class_name(const Loss& loss) {
  return known().name_of(typeid(loss), loss.class_name());
}

std::vector<std::string> registered_loss_names() { return known().names(); }

LossRef registered_loss(const std::string& class_name, const Config& given) {
  const auto make = known().find(class_name);
  if (!make) return {};
  const Config config = given.is_dict() ? given : Config::dict();
  LossRef loss = make(config);
  RILL_CHECK(loss.defined(), invalid_argument,
             "[loss] from_config of the class {} gave no loss; expected an object", class_name);
  // A class that passes its reduction over would be trained as another loss.
  const Config wanted = plain_reduction(config.get("reduction")),
               has = plain_reduction(loss->get_config().get("reduction"));
  RILL_CHECK(wanted.is_null() || wanted == has, invalid_argument,
             "[loss] the configuration of {} says reduction = {}, and the object that was made of "
             "it has {}; expected a from_config, or a constructor that takes the Config, which "
             "hands it on to keras::Loss",
             class_name, wanted.to_json(), has.to_json());
  return loss;
}

}  // namespace rill::keras
