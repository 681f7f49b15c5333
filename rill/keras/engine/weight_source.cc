#include "rill/keras/engine/weight_source.h"

#include "rill/keras/engine/call_state_impl.h"

namespace rill::keras {

WeightSource::WeightSource() : before_(std::exchange(call_state().weights, this)) {}
WeightSource::~WeightSource() { call_state().weights = before_; }
WeightSource* WeightSource::current() { return call_state().weights; }

}  // namespace rill::keras
