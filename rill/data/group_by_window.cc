// Elements put together by a key: group_by_window, and batches of sequences of about one length.
#include <map>

#include "rill/data/dataset_resource_impl.h"
#include "rill/ops/array_ops.h"

namespace rill::data {
namespace {

// The user's functions and sizes.
struct Grouping {
  detail::Fn key, reduce;
  std::int64_t size;
  std::optional<detail::Fn> size_of;
};

std::int64_t integer_of(const Nest& result, const char* what) {
  RILL_CHECK(result.is_tensor() && result.as_tensor().dtype().is_integer() &&
                 result.as_tensor().size() == 1,
             invalid_argument, "[group_by_window] {} returned {}; expected an integer", what,
             result.to_string());
  return result.as_tensor().item<std::int64_t>();
}
Nest key_as_nest(std::int64_t key) { return Nest(constant(key, int64)); }

class GroupCursor final : public UnaryCursor {
 public:
  GroupCursor(std::unique_ptr<Cursor> input, const Grouping& grouping, const UserCall& call,
              const Pass::Stream& stream, std::uint64_t path, Place place)
      : UnaryCursor(std::move(input)),
        grouping_(grouping),
        call_(call),
        stream_(stream),
        path_(path),
        outer_(*place.pass),
        stage_(place.stage) {}

  bool next(Nest* element) override {
    for (;;) {
      if (open_.cursor) {
        if (open_.cursor->next(element)) return true;
        open_ = {};
      }
      if (!open_next()) return false;
    }
  }
  void save(StateWriter& out) override {
    out.stage("GroupByWindowDataset", settings());
    for (std::int64_t v : {index_, opened_, static_cast<std::int64_t>(ended_),
                           static_cast<std::int64_t>(groups_.size())})
      out.put(v);
    for (const auto& [key, group] : groups_) {
      out.put(key);
      out.put(group.size);
      out.put(group.elements);
    }
    out.put(static_cast<std::int64_t>(open_.cursor != nullptr));
    if (open_.cursor) {
      out.put(open_.key);
      out.put(open_.elements);
      open_.pass->save(out);
      open_.cursor->save(out);
    }
    input_->save(out);
  }
  void restore(StateReader& in) override {
    in.stage("GroupByWindowDataset", settings());
    index_ = in.integer(0, INT64_MAX);
    opened_ = in.integer(0, INT64_MAX);
    ended_ = in.boolean();
    groups_.clear();
    for (std::int64_t n = in.integer(0, INT64_MAX); n > 0; --n) {
      const std::int64_t key = in.integer(), size = in.integer(1, INT64_MAX);
      groups_[key] = {size, in.nests()};
    }
    if (in.boolean()) {
      const std::int64_t key = in.integer();
      std::vector<Nest> elements = in.nests();
      --opened_;
      open(key, std::move(elements), Pass::restore(in));
      open_.cursor->restore(in);
    }
    input_->restore(in);
  }

 private:
  struct Group {
    std::int64_t size = 0;
    std::vector<Nest> elements;
  };
  // The dataset that the user made of a window.
  struct Open {
    std::int64_t key = 0;
    std::vector<Nest> elements;
    std::shared_ptr<Dataset> dataset;
    std::unique_ptr<Pass> pass;
    std::unique_ptr<Cursor> cursor;
  };
  Settings settings() const { return {{"window_size", grouping_.size}}; }

  bool open_next() {
    Nest element;
    while (!ended_ && input_->next(&element)) {
      const std::int64_t key = integer_of(call_(grouping_.key, element, index_++), "key_func");
      Group& group = groups_[key];
      if (group.elements.empty()) group.size = size_of(key);
      group.elements.push_back(element);
      if (static_cast<std::int64_t>(group.elements.size()) < group.size) continue;
      std::vector<Nest> window = std::move(group.elements);
      groups_.erase(key);
      open(key, std::move(window), Pass::nested(stream_));
      return true;
    }
    ended_ = true;
    if (groups_.empty()) return false;
    auto first = groups_.begin();
    const std::int64_t key = first->first;
    std::vector<Nest> window = std::move(first->second.elements);
    groups_.erase(first);
    open(key, std::move(window), Pass::nested(stream_));
    return true;
  }
  std::int64_t size_of(std::int64_t key) const {
    if (!grouping_.size_of) return grouping_.size;
    const std::int64_t n =
        integer_of(call_(*grouping_.size_of, key_as_nest(key), key), "window_size_func");
    RILL_CHECK(n > 0, invalid_argument,
               "[group_by_window] window_size_func returned {} for key {}; expected 1 or more", n,
               key);
    return n;
  }
  void open(std::int64_t key, std::vector<Nest> elements, std::unique_ptr<Pass> pass) {
    const std::int64_t number = opened_++;
    const Nest arguments = Nest::make({key_as_nest(key), list_as_nest(elements)});
    Open o;
    o.key = key;
    o.dataset = std::make_shared<Dataset>(Dataset::of(call_(grouping_.reduce, arguments, number)));
    o.elements = std::move(elements);
    o.pass = std::move(pass);
    o.pass->inherit(outer_);
    o.cursor = o.dataset->impl().start(
        {o.pass.get(), mix(path_, static_cast<std::uint64_t>(number)), stage_});
    open_ = {};
    open_ = std::move(o);
  }

  const Grouping& grouping_;
  UserCall call_;
  Pass::Stream stream_;
  std::uint64_t path_;
  Pass& outer_;
  StageProbe* stage_;
  std::map<std::int64_t, Group> groups_;  // the least key is the first to be emptied at the end
  Open open_;
  std::int64_t index_ = 0, opened_ = 0;
  bool ended_ = false;
};

class GroupDataset final : public UnaryDataset {
 public:
  GroupDataset(const Dataset& input, Grouping grouping)
      : UnaryDataset(input), grouping_(std::move(grouping)) {}
  const char* name() const override { return "GroupByWindowDataset"; }
  std::int64_t cardinality() const override { return UNKNOWN_CARDINALITY; }
  std::unique_ptr<Cursor> make_cursor(Place place) const override {
    const Pass::Stream stream = place.pass->stream_of(random_);
    const UserCall call("group_by_window", random_, place);
    return std::make_unique<GroupCursor>(input().start(place), grouping_, call, stream,
                                         mix(place.path, stream.number), place);
  }

 protected:
  // What the user makes of a window of one element tells.
  ElementSpec make_spec() const override {
    const std::unique_ptr<Pass> pass = Pass::nested({});
    const UserCall call("group_by_window", random_, Place{pass.get()});
    try {
      const Dataset like = dataset_of_spec(input().spec());
      const Nest window(make_resource(Ref<Resource>(new DatasetResource(like)), variant));
      return Dataset::of(call(grouping_.reduce, Nest::make({key_as_nest(0), window}), 0))
          .element_spec();
    } catch (const errors::Error&) {
      return {};  // a function that reads the window
    }
  }

 private:
  Grouping grouping_;
  RandomSource random_;
};

}  // namespace

Dataset Dataset::group_by_window_(detail::Fn key, detail::Fn reduce, std::int64_t size,
                                  std::optional<detail::Fn> size_of) const {
  RILL_CHECK(size > 0 || size_of, invalid_argument,
             "[group_by_window] window_size is {}; expected 1 or more", size);
  return make_dataset<GroupDataset>(*this, Grouping{key, reduce, size, std::move(size_of)});
}

Dataset Dataset::bucket_(detail::Fn length, const std::vector<std::int64_t>& boundaries,
                         const std::vector<std::int64_t>& batch_sizes, BucketOptions o) const {
  RILL_CHECK(batch_sizes.size() == boundaries.size() + 1, invalid_argument,
             "[bucket_by_sequence_length] there are {} boundaries and {} batch sizes; expected one "
             "size more than boundaries",
             boundaries.size(), batch_sizes.size());
  RILL_CHECK(std::is_sorted(boundaries.begin(), boundaries.end()), invalid_argument,
             "[bucket_by_sequence_length] bucket_boundaries are not in order");
  for (std::int64_t n : batch_sizes)
    RILL_CHECK(n > 0, invalid_argument,
               "[bucket_by_sequence_length] a batch size is {}; expected 1 or more", n);
  const auto length_of = [length](const Nest& element) {
    return integer_of(length(element), "element_length_func");
  };
  const auto bucket_of = [length_of, boundaries](const Nest& element) -> std::int64_t {
    return std::upper_bound(boundaries.begin(), boundaries.end(), length_of(element)) -
           boundaries.begin();
  };
  const Shapes shapes = o.padded_shapes.is_empty() ? output_shapes() : o.padded_shapes;
  const auto batch_of = [=](const Tensor& key, const Dataset& window) {
    const auto bucket = static_cast<std::size_t>(key.item<std::int64_t>());
    const std::int64_t size = batch_sizes[bucket];
    if (o.no_padding) return window.batch(size, {.drop_remainder = o.drop_remainder});
    Shapes padded = shapes;
    if (o.pad_to_bucket_boundary) {
      RILL_CHECK(bucket < boundaries.size(), invalid_argument,
                 "[bucket_by_sequence_length] an element is as long as the last boundary, {}, or "
                 "longer; with pad_to_bucket_boundary there is no bucket for it",
                 boundaries.empty() ? 0 : boundaries.back());
      padded = shapes.map([&](const TensorShape& s) {
        Dims dims;
        for (std::int64_t d : s.dims()) dims.push_back(d < 0 ? boundaries[bucket] - 1 : d);
        return TensorShape(dims);
      });
    }
    return window.padded_batch(
        size, padded, {.padding_values = o.padding_values, .drop_remainder = o.drop_remainder});
  };
  return group_by_window(bucket_of, batch_of, [batch_sizes](const Tensor& key) {
    return batch_sizes[static_cast<std::size_t>(key.item<std::int64_t>())];
  });
}

}  // namespace rill::data
