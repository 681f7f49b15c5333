// Convolutions by oneDNN. Activations stay in the user's layout when channels are
// last; filters, and activations with channels first, are reordered into what the
// primitive prefers, which costs a few per cent and saves far more.
#include "rill/kernels/cpu/conv.h"

#if RILL_WITH_ONEDNN
#include <algorithm>
#include <exception>
#include <list>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "rill/base/parallel.h"
#include "rill/base/waiting.h"
#include "rill/core/cpu_device.h"
#include "rill/kernels/cpu/onednn.h"

namespace rill::cpu {
namespace {

using dnnl::memory;
using onednn::any_layout;
using onednn::engine;

// A primitive for one geometry: immutable, run by many threads at once with
// scratch memory of their own.
struct ConvPrimitive {
  dnnl::primitive primitive;
  memory::desc bias;               // zero: none
  memory::desc user[3], liked[3];  // of input, filter, output
  bool moved[3];                   // liked differs from user
  dnnl::reorder reorder[3];        // into what is liked; for the result, back
  memory::desc scratchpad, reorder_scratchpad[3];
};

memory::dims image_dims(const WindowGeometry& g, bool input) {
  memory::dims d{g.batch, input ? g.in_channels : g.out_channels};
  for (int i = 3 - g.layout.spatial; i < 3; ++i) d.push_back(input ? g.axes[i].in : g.axes[i].out);
  return d;
}
memory::desc image_desc(const WindowGeometry& g, bool input, memory::data_type type) {
  const memory::dims d = image_dims(g, input);
  memory::dims strides(d.size());
  std::int64_t step = 1;
  if (!g.layout.channels_first) strides[1] = 1, step = d[1];
  for (std::size_t i = d.size() - 1; i >= 2; --i) strides[i] = step, step *= d[i];
  if (g.layout.channels_first) strides[1] = step, step *= d[1];
  strides[0] = step;
  return memory::desc(d, type, strides);
}
// [.., in, out] as oneDNN counts it: (groups,) out, in, axes of the image.
memory::desc filter_desc(const WindowGeometry& g, memory::data_type type) {
  const std::int64_t in = g.in_channels / g.groups, out = g.out_channels / g.groups;
  memory::dims d, strides;
  if (g.groups > 1) d.push_back(g.groups), strides.push_back(out);
  d.insert(d.end(), {out, in});
  strides.insert(strides.end(), {1, g.out_channels});
  const std::size_t first = d.size();
  for (int i = 3 - g.layout.spatial; i < 3; ++i) d.push_back(g.axes[i].size), strides.push_back(0);
  std::int64_t step = in * g.out_channels;
  for (std::size_t i = d.size(); i-- > first;) strides[i] = step, step *= d[i];
  return memory::desc(d, type, strides);
}

template <class PD>
bool better_than_reference(PD& pd) {
  // Its plain loops are thousands of times slower than ours.
  do {
    if (std::string(pd.impl_info_str()).find("ref") == std::string::npos) return true;
  } while (pd.next_impl());
  return false;
}

std::shared_ptr<const ConvPrimitive> make(ConvPass pass, const WindowGeometry& g, DType dtype,
                                          bool biased) {
  auto p = std::make_shared<ConvPrimitive>();
  const auto f32 = memory::data_type::f32, type = dtype == bfloat16 ? memory::data_type::bf16 : f32;
  p->user[0] = image_desc(g, true, type);
  p->user[1] = filter_desc(g, pass == ConvPass::filter ? f32 : type);
  p->user[2] = image_desc(g, false, type);
  const bool first = g.layout.channels_first;
  const memory::desc x = first ? any_layout(p->user[0]) : p->user[0], w = any_layout(p->user[1]),
                     y = first ? any_layout(p->user[2]) : p->user[2];
  memory::dims strides, dilations, before, after;
  for (int i = 3 - g.layout.spatial; i < 3; ++i) {
    const Window& a = g.axes[i];
    strides.push_back(a.stride);
    dilations.push_back(a.dilation - 1);
    before.push_back(a.before);
    // What the last window reaches; less than the padding where strides skip its end.
    after.push_back(std::max<std::int64_t>(
        0, (a.out - 1) * a.stride + (a.size - 1) * a.dilation + 1 - a.in - a.before));
  }
  dnnl::primitive_attr attr;
  attr.set_scratchpad_mode(dnnl::scratchpad_mode::user);
  if (biased) p->bias = memory::desc({g.out_channels}, type, memory::format_tag::a);
  const auto algorithm = dnnl::algorithm::convolution_direct;
  auto forward = onednn::describe<dnnl::convolution_forward>(
      attr, dnnl::prop_kind::forward_training, algorithm, x, any_layout(filter_desc(g, type)),
      p->bias, y, strides, dilations, before, after);
  auto keep = [&](const auto& pd, const memory::desc& lx, const memory::desc& lw,
                  const memory::desc& ly) {
    p->liked[0] = lx, p->liked[1] = lw, p->liked[2] = ly;
    p->scratchpad = pd.scratchpad_desc();
  };
  if (pass == ConvPass::output) {
    if (!better_than_reference(forward)) return nullptr;
    keep(forward, forward.src_desc(), forward.weights_desc(), forward.dst_desc());
    p->primitive = dnnl::convolution_forward(forward);
  } else if (pass == ConvPass::input) {
    auto pd = onednn::describe_backward<dnnl::convolution_backward_data>(
        attr, forward, algorithm, x, w, y, strides, dilations, before, after);
    if (!better_than_reference(pd)) return nullptr;
    keep(pd, pd.diff_src_desc(), pd.weights_desc(), pd.diff_dst_desc());
    p->primitive = dnnl::convolution_backward_data(pd);
  } else {
    auto pd = onednn::describe_backward<dnnl::convolution_backward_weights>(
        attr, forward, algorithm, x, w, y, strides, dilations, before, after);
    if (!better_than_reference(pd)) return nullptr;
    keep(pd, pd.src_desc(), pd.diff_weights_desc(), pd.diff_dst_desc());
    p->primitive = dnnl::convolution_backward_weights(pd);
  }
  const int written = pass == ConvPass::output ? 2 : pass == ConvPass::input ? 0 : 1;
  for (int i = 0; i < 3; ++i) {
    p->moved[i] = p->user[i] != p->liked[i];
    if (!p->moved[i]) continue;
    const bool back = i == written;
    const dnnl::reorder::primitive_desc pd(engine(), back ? p->liked[i] : p->user[i], engine(),
                                           back ? p->user[i] : p->liked[i], attr);
    p->reorder[i] = dnnl::reorder(pd);
    p->reorder_scratchpad[i] = pd.scratchpad_desc();
  }
  return p;
}

// The primitives used last. A null entry remembers a geometry that oneDNN does
// not take.
class Cache {
 public:
  template <class F>
  std::shared_ptr<const ConvPrimitive> get(const std::string& key, F make_it) {
    {
      const std::lock_guard lock(mutex_);
      if (auto found = at_.find(key); found != at_.end()) {
        order_.splice(order_.begin(), order_, found->second);
        return found->second->second;
      }
    }
    auto made = make_it();  // may take a millisecond: others need not wait
    const std::lock_guard lock(mutex_);
    if (auto found = at_.find(key); found != at_.end()) return found->second->second;
    order_.emplace_front(key, made);
    at_[key] = order_.begin();
    if (order_.size() > kMost) {
      at_.erase(order_.back().first);
      order_.pop_back();
    }
    return made;
  }

 private:
  static constexpr std::size_t kMost = 512;  // a ResNet-50 in training needs 160
  using Entry = std::pair<std::string, std::shared_ptr<const ConvPrimitive>>;
  std::mutex mutex_;
  std::list<Entry> order_;
  std::unordered_map<std::string, std::list<Entry>::iterator> at_;
};
Cache& cache() {
  static auto* c = new Cache;
  return *c;
}

std::string key_of(ConvPass pass, const WindowGeometry& g, DType dtype, bool biased, int width) {
  std::int64_t words[6 + 3 * 7] = {
      static_cast<std::int64_t>(pass) | biased << 2 | (dtype == bfloat16) << 3 | width << 4,
      g.layout.spatial * 2 + g.layout.channels_first,
      g.batch,
      g.in_channels,
      g.out_channels,
      g.groups};
  std::int64_t* to = words + 6;
  for (const Window& a : g.axes)
    for (std::int64_t v : {a.in, a.size, a.stride, a.dilation, a.before, a.after, a.out}) *to++ = v;
  return std::string(reinterpret_cast<const char*>(words), sizeof words);
}

// Memory for the time of a call.
class Scratch {
 public:
  memory make(const memory::desc& wanted) {
    const std::size_t bytes = wanted.get_size();
    if (bytes > 0) blocks_.emplace_back(bytes);
    return memory(wanted, engine(), bytes > 0 ? blocks_.back().get() : nullptr);
  }

 private:
  std::vector<HostMemory> blocks_;
};

// A filter in the layout of some primitive.
struct Packed {
  explicit Packed(const memory::desc& l) : layout(l), data(l.get_size()) {}
  const memory::desc layout;
  const HostMemory data;
};

// Those that are in use, by the elements that they were made of, so that the plans of one
// function for several sizes of its batch have one packed filter.
class PackedFilters {
 public:
  std::shared_ptr<const Packed> find(const void* elements, const memory::desc& layout) {
    const std::lock_guard lock(mutex_);
    std::erase_if(made_, [](const auto& m) { return m.second.expired(); });
    const auto [begin, end] = made_.equal_range(elements);
    for (auto it = begin; it != end; ++it)
      if (auto packed = it->second.lock(); packed && packed->layout == layout) return packed;
    return nullptr;
  }
  void add(const void* elements, const std::shared_ptr<const Packed>& packed) {
    const std::lock_guard lock(mutex_);
    made_.emplace(elements, packed);
  }

 private:
  std::mutex mutex_;
  std::unordered_multimap<const void*, std::weak_ptr<const Packed>> made_;
};
PackedFilters& packed_filters() {
  static auto* p = new PackedFilters;
  return *p;
}

// What `filter` keeps of these elements; filled by pack(to) if it is empty. Null when it keeps
// another layout.
template <class F>
const Packed* packed(PackedInput& filter, const void* elements, const memory::desc& layout,
                     F pack) {
  if (!filter.contents) {
    auto found = packed_filters().find(elements, layout);
    if (!found) {
      auto made = std::make_shared<Packed>(layout);
      pack(memory(layout, engine(), made->data.get()));
      packed_filters().add(elements, made);
      found = std::move(made);
    }
    filter.contents = std::move(found);
  }
  const auto* p = static_cast<const Packed*>(filter.contents.get());
  return p->layout == layout ? p : nullptr;
}

// Runs a primitive on the tensors where they lie. Throws.
void run(const ConvPrimitive& p, ConvPass pass, const ConvBuffers<void>& b,
         const void* bias = nullptr, PackedInput* kept = nullptr) {
  thread_local dnnl::stream stream(engine());
  if (const int width = compute_width(); width > 1) adapt_waiting(width);
  Scratch scratch;
  const int written = pass == ConvPass::output ? 2 : pass == ConvPass::input ? 0 : 1;
  void* const given[3] = {b.input, b.filter, b.output};
  memory user[3], liked[3];
  auto reorder = [&](int i, const memory& from, const memory& to) {
    p.reorder[i].execute(stream, {{DNNL_ARG_FROM, from},
                                  {DNNL_ARG_TO, to},
                                  {DNNL_ARG_SCRATCHPAD, scratch.make(p.reorder_scratchpad[i])}});
  };
  if (written == 1) kept = nullptr;
  for (int i = 0; i < 3; ++i) {
    user[i] = memory(p.user[i], engine(), given[i]);
    if (kept && i == 1 && p.moved[i]) {
      const Packed* there =
          packed(*kept, given[i], p.liked[i], [&](const memory& to) { reorder(i, user[i], to); });
      if (there) {
        liked[i] = memory(p.liked[i], engine(), there->data.get());
        continue;
      }
    }
    liked[i] = p.moved[i] ? scratch.make(p.liked[i]) : user[i];
    if (p.moved[i] && i != written) reorder(i, user[i], liked[i]);
  }
  const int x = pass == ConvPass::input ? DNNL_ARG_DIFF_SRC : DNNL_ARG_SRC,
            w = pass == ConvPass::filter ? DNNL_ARG_DIFF_WEIGHTS : DNNL_ARG_WEIGHTS;
  const int y = pass == ConvPass::output ? DNNL_ARG_DST : DNNL_ARG_DIFF_DST;
  std::unordered_map<int, memory> args{{x, liked[0]},
                                       {w, liked[1]},
                                       {y, liked[2]},
                                       {DNNL_ARG_SCRATCHPAD, scratch.make(p.scratchpad)}};
  if (bias) args[DNNL_ARG_BIAS] = memory(p.bias, engine(), const_cast<void*>(bias));
  p.primitive.execute(stream, args);
  if (p.moved[written]) reorder(written, liked[written], user[written]);
}

std::shared_ptr<const ConvPrimitive> find(ConvPass pass, const WindowGeometry& g, DType dtype,
                                          bool biased = false) {
  return cache().get(key_of(pass, g, dtype, biased, compute_width()),
                     [&]() -> std::shared_ptr<const ConvPrimitive> {
                       try {
                         return make(pass, g, dtype, biased);
                       } catch (const dnnl::error& e) {
                         if (e.status == dnnl_out_of_memory) throw;
                         return nullptr;
                       }
                     });
}

// The gradient of the filter is a sum over the batch. oneDNN splits it by the
// number of threads; we split it by its size, so that its bits do not depend on
// them. Into how many parts:
std::int64_t parts_of(const WindowGeometry& g, double work) {
  // Parts with something to do, and not more sums than activations are wont to have.
  const double sums = static_cast<double>(g.taps() * g.in_channels / g.groups) *
                      static_cast<double>(g.out_channels);
  const double most = std::min((1 << 24) / sums, static_cast<double>(g.batch));
  const int wanted = work < (1 << 23) ? 1 : work < (1 << 25) ? 2 : work < (1 << 26) ? 4 : 8;
  return most < 2 ? 1 : most < 4 ? std::min(wanted, 2) : most < 8 ? std::min(wanted, 4) : wanted;
}
bool filter_in_parts(const WindowGeometry& g, DType dtype, const ConvBuffers<void>& b,
                     std::int64_t parts) {
  const std::int64_t n = g.taps() * g.in_channels / g.groups * g.out_channels;
  const auto size = static_cast<std::int64_t>(dtype.itemsize());
  const std::int64_t in = g.in_pixels() * g.in_channels * size,
                     out = g.out_pixels() * g.out_channels * size;
  char *const input = static_cast<char*>(b.input), *const output = static_cast<char*>(b.output);
  float* const filter = static_cast<float*>(b.filter);
  WindowGeometry small = g, large = g;  // parts differ by one image at most
  small.batch = g.batch / parts, large.batch = small.batch + 1;
  std::shared_ptr<const ConvPrimitive> of_small, of_large;
  {
    const ComputeWidthScope one(1);
    of_small = find(ConvPass::filter, small, dtype);
    of_large = g.batch % parts == 0 ? of_small : find(ConvPass::filter, large, dtype);
  }
  if (!of_small || !of_large) return false;
  const HostMemory sum_memory(static_cast<std::size_t>((parts - 1) * n) * sizeof(float));
  float* const sums = static_cast<float*>(sum_memory.get());
  std::exception_ptr failure;
  std::mutex mutex;
  parallel_for(parts, 1, [&](std::int64_t begin, std::int64_t end) {
    const int width = compute_width();
    set_compute_width(1);
    for (std::int64_t p = begin; p < end; ++p) try {
        float* to = p == 0 ? filter : sums + (p - 1) * n;
        const std::int64_t first = g.batch * p / parts, images = g.batch * (p + 1) / parts - first;
        run(images == small.batch ? *of_small : *of_large, ConvPass::filter,
            {input + first * in, to, output + first * out});
      } catch (...) {
        const std::lock_guard lock(mutex);
        failure = std::current_exception();
      }
    set_compute_width(width);
  });
  if (failure) std::rethrow_exception(failure);
  parallel_for(n, 1 << 14, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t p = 0; p < parts - 1; ++p)
      _Pragma("omp simd") for (std::int64_t i = begin; i < end; ++i) filter[i] += sums[p * n + i];
  });
  return true;
}

}  // namespace

bool onednn_conv(KernelContext& c, ConvPass pass, const WindowGeometry& g, DType dtype,
                 const ConvBuffers<void>& b, const void* bias) {
  const double work = static_cast<double>(g.batch * g.out_pixels()) *
                      static_cast<double>(g.taps() * g.out_channels) *
                      static_cast<double>(g.in_channels / g.groups);
  if (dtype == bfloat16 && !onednn::limits().bfloat16) return false;
  try {
    if (pass == ConvPass::filter)
      if (const std::int64_t parts = parts_of(g, work); parts > 1)
        return filter_in_parts(g, dtype, b, parts);
    // One thread for what a second would only slow down, and for what the rule of
    // parts leaves whole because it is small.
    std::optional<ComputeWidthScope> one;
    if (work < (pass == ConvPass::filter ? 1 << 23 : 1 << 19)) one.emplace(1);
    const auto p = find(pass, g, dtype, bias != nullptr);
    if (p) run(*p, pass, b, bias, c.packed_input());
    return p != nullptr;
  } catch (const dnnl::error& e) {
    c.fail(e.status == dnnl_out_of_memory ? Code::resource_exhausted : Code::internal,
           format("[{}] oneDNN: {}", c.tag(), e.what()));
  } catch (const errors::Error& e) {
    c.fail(e.code(), format("[{}] {}", c.tag(), e.what()));
  } catch (const std::bad_alloc&) {
    c.fail(Code::resource_exhausted, format("[{}] out of memory", c.tag()));
  }
  return false;
}

}  // namespace rill::cpu
#else
namespace rill::cpu {
bool onednn_conv(KernelContext&, ConvPass, const WindowGeometry&, DType, const ConvBuffers<void>&,
                 const void*) {
  return false;
}
}  // namespace rill::cpu
#endif
