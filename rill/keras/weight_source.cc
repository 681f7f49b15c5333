#include "rill/keras/weight_source.h"

namespace rill::keras {

static thread_local WeightSource* innermost = nullptr;

WeightSource::WeightSource() : before_(innermost) { innermost = this; }
WeightSource::~WeightSource() { innermost = before_; }
WeightSource* WeightSource::current() { return innermost; }

}  // namespace rill::keras
