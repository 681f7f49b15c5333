// Cropping and zero padding.
#include <array>

#include "rill/base/check.h"
#include "rill/keras/engine/layer_impl.h"
#include "rill/keras/layers/fields_impl.h"
#include "rill/keras/layers/reshaping.h"
#include "rill/ops/array_ops.h"

namespace rill::keras {

namespace {

using layers::Borders;

// Pairs, one for each axis; of one axis the pair alone.
struct BordersField {
  static Config write(const Borders& v) {
    Config all = Config::list();
    for (const std::vector<int>& pair : v.list()) all.push_back(Config::list_of(pair));
    return all.size() == 1 ? all[0] : all;
  }
  static void read(const Config& c, Borders& v) {
    if (!c.is_list()) {
      v = Borders(static_cast<int>(c.as_int()));
      return;
    }
    std::vector<std::vector<int>> each;
    for (const Config& i : c.items()) each.push_back(sizes_from(i).list());
    v = Borders(std::move(each));
  }
};
struct ZeroPaddingFields {
  using Options = layers::ZeroPaddingOptions;
  template <class F, class O>
  static void visit(F& f, O& o) {
    f.required("padding", o.padding, BordersField());
    f.written_if(o.padding.list().size() > 1, "data_format", o.data_format);
  }
};

struct CroppingFields {
  using Options = layers::CroppingOptions;
  template <class F, class O>
  static void visit(F& f, O& o) {
    f.required("cropping", o.cropping, BordersField());
    f.written_if(o.cropping.list().size() > 1, "data_format", o.data_format);
  }
};

class BordersLayer : public LayerImpl {
 protected:
  template <class O>
  BordersLayer(const char* kind, int axes, const O& o, const Borders& borders, const char* argument)
      : LayerImpl(format("{}{}D", kind, axes), common(o)),
        axes_(axes),
        channels_first_(is_channels_first(class_name(), o.data_format)),
        argument_(argument) {
    set(borders.list());
    input_spec.ndim = axes + 2;
  }
  // Before and after the axis of the tensor.
  std::array<int, 2> around(int axis) const {
    const int i = axis - (channels_first_ ? 2 : 1);
    return i >= 0 && i < axes_ ? sides_[static_cast<std::size_t>(i)] : std::array<int, 2>{0, 0};
  }
  // The options with both sides of each axis.
  template <class O>
  O normalised(O o, Borders O::*borders) const {
    std::vector<std::vector<int>> each;
    for (const auto& [before, after] : sides_) each.push_back({before, after});
    o.*borders = Borders(std::move(each));
    o.data_format = data_format_name(channels_first_);
    return o;
  }
  const char* argument() const { return argument_; }

 private:
  void set(std::vector<std::vector<int>> given) {
    // {1, 2} are the two sides of a line.
    if (axes_ == 1 && given.size() == 2 && given[0].size() == 1 && given[1].size() == 1)
      given = {{given[0][0], given[1][0]}};
    RILL_CHECK(given.size() == 1 || static_cast<int>(given.size()) == axes_, invalid_argument,
               "[{}] {} has {} entries; expected a number, or {} entries, one for each axis",
               class_name(), argument_, given.size(), axes_);
    for (const std::vector<int>& pair : given) {
      RILL_CHECK(pair.size() == 1 || pair.size() == 2, invalid_argument,
                 "[{}] an entry of {} has {} numbers; expected 1, or 2 for before and after",
                 class_name(), argument_, pair.size());
      for (int i : pair)
        RILL_CHECK(i >= 0, invalid_argument, "[{}] {} contains {}; expected 0 or more",
                   class_name(), argument_, i);
      sides_.push_back({pair[0], pair.back()});
    }
    sides_.resize(static_cast<std::size_t>(axes_), sides_[0]);
  }
  int axes_;
  bool channels_first_;
  const char* argument_;
  std::vector<std::array<int, 2>> sides_;
};

class ZeroPaddingLayer : public BordersLayer {
 public:
  ZeroPaddingLayer(int axes, const layers::ZeroPaddingOptions& o)
      : BordersLayer("ZeroPadding", axes, o, o.padding, "padding"),
        o_(normalised(o, &layers::ZeroPaddingOptions::padding)) {}
  Tensor call(const Tensor& x, const CallContext&) override {
    std::vector<int> each;
    for (int i = 0; i < x.ndim(); ++i)
      for (int side : around(i)) each.push_back(side);
    return pad(x, constant(each, int32, {x.ndim(), 2}));
  }
  void add_config(Config& c) const override { write_fields<ZeroPaddingFields>(o_, c); }

 private:
  layers::ZeroPaddingOptions o_;
};

Borders cropping_or_default(int axes, const layers::CroppingOptions& o) {
  return o.cropping.list().empty() ? Borders(axes == 2 ? 0 : 1) : o.cropping;
}

class CroppingLayer : public BordersLayer {
 public:
  CroppingLayer(int axes, const layers::CroppingOptions& o)
      : BordersLayer("Cropping", axes, o, cropping_or_default(axes, o), "cropping"),
        o_(normalised(o, &layers::CroppingOptions::cropping)) {}
  Tensor call(const Tensor& x, const CallContext&) override {
    std::vector<int> begin, end;
    int to_the_end = 0;
    for (int i = 0; i < x.ndim(); ++i) {
      const auto [before, after] = around(i);
      RILL_CHECK(x.shape().dim(i) < 0 || before + after < x.shape().dim(i) || before + after == 0,
                 invalid_argument,
                 "[{}] {} takes {} and {} elements of axis {} of the input of shape {}; expected "
                 "less than its size",
                 name(), argument(), before, after, i, x.shape());
      begin.push_back(before);
      end.push_back(-after);
      if (after == 0) to_the_end |= 1 << i;
    }
    const std::vector<int> steps(begin.size(), 1);
    return strided_slice(x, constant(begin), constant(end), constant(steps),
                         {.end_mask = to_the_end});
  }
  void add_config(Config& c) const override { write_fields<CroppingFields>(o_, c); }

 private:
  layers::CroppingOptions o_;
};

const RegisterFields<ZeroPaddingFields, layers::ZeroPadding<1>> padding1("ZeroPadding1D");
const RegisterFields<ZeroPaddingFields, layers::ZeroPadding<2>> padding2("ZeroPadding2D");
const RegisterFields<ZeroPaddingFields, layers::ZeroPadding<3>> padding3("ZeroPadding3D");
const RegisterFields<CroppingFields, layers::Cropping<1>> cropping1("Cropping1D");
const RegisterFields<CroppingFields, layers::Cropping<2>> cropping2("Cropping2D");
const RegisterFields<CroppingFields, layers::Cropping<3>> cropping3("Cropping3D");

}  // namespace

template <int axes>
layers::ZeroPadding<axes>::ZeroPadding(ZeroPaddingOptions o)
    : Layer(this, new ZeroPaddingLayer(axes, o)) {}
template class layers::ZeroPadding<1>;
template class layers::ZeroPadding<2>;
template class layers::ZeroPadding<3>;
template <int axes>
layers::Cropping<axes>::Cropping(CroppingOptions o) : Layer(this, new CroppingLayer(axes, o)) {}
template class layers::Cropping<1>;
template class layers::Cropping<2>;
template class layers::Cropping<3>;

}  // namespace rill::keras
