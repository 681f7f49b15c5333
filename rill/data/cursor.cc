// What all stages share: passes, rows, calls of users' functions.
#include "rill/core/default_device.h"
#include "rill/core/execute.h"
#include "rill/data/dataset_impl.h"

namespace rill::data {

RandomSource::Stream RandomSource::next_pass() const {
  std::lock_guard lock(mutex_);
  return {stream_.seed, stream_.seed2, passes_++};
}
RandomSource::Stream RandomSource::without_pass() const {
  std::lock_guard lock(mutex_);
  return {stream_.seed, stream_.seed2, 0};
}
void RandomSource::follow(const Stream& pass) const {
  std::lock_guard lock(mutex_);
  const bool same = stream_.seed == pass.seed && stream_.seed2 == pass.seed2;
  stream_ = {pass.seed, pass.seed2, 0};
  passes_ = same ? std::max(passes_, pass.number + 1) : pass.number + 1;
}
std::uint64_t RandomSource::next_start() const {
  std::lock_guard lock(mutex_);
  return starts_++;
}
std::uint64_t RandomSource::starts() const {
  std::lock_guard lock(mutex_);
  return starts_;
}
void RandomSource::set_starts(std::uint64_t starts) const {
  std::lock_guard lock(mutex_);
  starts_ = starts;
}

std::unique_ptr<Pass> Pass::nested(const Stream& outer) {
  auto pass = std::make_unique<Pass>();
  pass->nested_ = true;
  pass->outer_ = outer;
  return pass;
}
void Pass::set_options(const Options& options) {
  if (std::exchange(has_options_, true)) return;
  options_ = options;
  autotune_.set_limit(options.autotune.ram_budget);
}
Pass::Stream Pass::stream_of(const RandomSource& source) {
  std::lock_guard lock(mutex_);
  for (const auto& [known, stream] : streams_)
    if (known == &source) return stream;
  const std::size_t i = streams_.size();
  Stream stream;
  if (i < saved_.size())
    stream = saved_[i];
  else if (!nested_)
    stream = source.next_pass();
  else if (source.seeded)
    stream = source.without_pass();
  else
    stream = {outer_.seed,
              static_cast<std::int64_t>(mix(static_cast<std::uint64_t>(outer_.seed2), i)), 0};
  streams_.emplace_back(&source, stream);
  return stream;
}
void Pass::save(StateWriter& out) const {
  std::lock_guard lock(mutex_);
  out.put(static_cast<std::int64_t>(nested_));
  std::vector<std::int64_t> list{outer_.seed, outer_.seed2};
  for (const auto& entry : streams_) {
    const Stream& s = entry.second;
    list.insert(list.end(), {s.seed, s.seed2, static_cast<std::int64_t>(s.number)});
  }
  out.put(list);
}
std::unique_ptr<Pass> Pass::restore(StateReader& in) {
  const bool nested = in.boolean();
  const std::vector<std::int64_t> list = in.list();
  std::vector<Stream> streams;
  RILL_CHECK(list.size() % 3 == 2, data_loss,
             "[Iterator.restore] the state is damaged: its streams are {} numbers", list.size());
  for (std::size_t i = 2; i + 2 < list.size(); i += 3)
    streams.push_back({list[i], list[i + 1], static_cast<std::uint64_t>(list[i + 2])});
  auto pass = std::make_unique<Pass>(std::move(streams));
  pass->nested_ = nested;
  pass->outer_ = {list[0], list[1], 0};
  return pass;
}
void Pass::lead() const {
  std::lock_guard lock(mutex_);
  if (nested_) return;
  for (const auto& [source, stream] : streams_) source->follow(stream);
}

std::int64_t Cursor::next_batch(std::int64_t, Nest*) {
  RILL_INTERNAL_CHECK(makes_batches());
  return 0;
}
std::int64_t Cursor::next_rows(std::int64_t*, std::int64_t) {
  RILL_INTERNAL_CHECK(rows());
  return 0;
}
std::int64_t Cursor::skip(std::int64_t n) {
  Nest element;
  std::int64_t done = 0;
  while (done < n && next(&element)) ++done;
  return done;
}
bool Cursor::next_row(Nest* element) {
  std::int64_t row = 0;
  if (next_rows(&row, 1) == 0) return false;
  *element = rows()->element(row);
  return true;
}

Nest UserCall::operator()(const detail::Fn& f, const Nest& element, std::int64_t index) const {
  const FreshContext fresh;
  const OnHostByDefault on_host;
  ElementRandomScope random({stream_.seed, stream_.seed2, 0}, mix(path_, stream_.number),
                            static_cast<std::uint64_t>(index));
  try {
    return f(element);
  } catch (errors::Error& e) {
    e.add_context(format("while the function of {}() was at element {}: {}", stage_, index,
                         element.to_string()));
    throw;
  }
}

bool is_true(const Nest& result, const char* stage) {
  RILL_CHECK(
      result.is_tensor() && result.as_tensor().dtype() == bool_ && result.as_tensor().size() == 1,
      invalid_argument, "[{}] the function returned {}; expected a bool or a scalar bool tensor",
      stage, result.to_string());
  return result.as_tensor().item<bool>();
}

namespace detail {
void require_arguments(const Nest& element, std::size_t arity) {
  const std::size_t items = element.is_dict() || element.is_composite() ? 1 : element.size();
  RILL_CHECK(
      items == arity, invalid_argument,
      "[dataset] the function takes {} argument{}, the element has {}: {}. Take each item of "
      "the tuple, or the whole as one rill::Nest",
      arity, arity == 1 ? "" : "s", items, element.to_string());
}
Tensor constant_of(const Operand& value) { return to_tensor(value); }
}  // namespace detail

}  // namespace rill::data
