#include "rill/compat/v1/summary.h"

#include "rill/base/check.h"
#include "rill/compat/v1/call_state_impl.h"
#include "rill/compat/v1/train.h"

namespace rill::contrib::summary {
namespace {

bool in_scope() { return compat::v1::ScopedCallState::now().records_summaries; }

}  // namespace

struct RecordScope::Entered : compat::v1::ScopedCallState {};
RecordScope::RecordScope(std::function<bool()> condition)
    : entered_(std::make_unique<Entered>()),
      condition_(rill::summary::record_if(std::move(condition))) {
  (*entered_)->records_summaries = true;
}
RecordScope::~RecordScope() = default;

RecordScope always_record_summaries() {
  return RecordScope([] { return true; });
}
RecordScope never_record_summaries() {
  return RecordScope([] { return false; });
}
RecordScope record_summaries_every_n_global_steps(std::int64_t n, const Variable& global_step) {
  RILL_CHECK(n >= 1, invalid_argument,
             "[record_summaries_every_n_global_steps] n is {}; expected at least 1", n);
  const Variable step =
      global_step.defined() ? global_step : compat::v1::train::get_or_create_global_step();
  return RecordScope([step, n] { return step.item<std::int64_t>() % n == 0; });
}

bool should_record_summaries() { return in_scope() && rill::summary::should_record_summaries(); }

bool scalar(std::string_view name, const Operand& tensor, const ScalarOptions& options) {
  if (!in_scope()) return false;
  const rill::summary::Step step =
      options.step.given() ? options.step : compat::v1::train::get_or_create_global_step();
  return rill::summary::scalar(name, tensor, {.step = step});
}

}  // namespace rill::contrib::summary
