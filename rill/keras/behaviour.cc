#include "rill/keras/behaviour_impl.h"

#include <utility>

namespace rill::keras {

static thread_local int behaviour = 2;

int keras_behaviour() { return behaviour; }

BehaviourScope::BehaviourScope(int keras) : before_(std::exchange(behaviour, keras)) {}
BehaviourScope::~BehaviourScope() { behaviour = before_; }

}  // namespace rill::keras
