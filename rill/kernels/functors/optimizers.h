#pragma once
#include <cmath>

#include "rill/base/host_device.h"
#include "rill/core/kernel.h"

// The rules of the optimizers, element by element, for every device. A rule is
// made on the host from the step's numbers, s("lr"), and updates one element of
// the variable and its slots; C is the type that it computes in.
namespace rill::functors::rules {

template <class C>
struct Momentum {
  C lr, momentum;
  bool nesterov;
  template <class S>
  Momentum(KernelContext& c, const S& s)
      : lr(s("lr")), momentum(s("momentum")), nesterov(c.bool_attr("use_nesterov")) {}
  RILL_FORCE_INLINE void apply(C& var, C& accum, C g) const {
    accum = accum * momentum + g;
    var -= nesterov ? g * lr + accum * momentum * lr : accum * lr;
  }
};

template <class C>
struct KerasMomentum {
  C lr, momentum;
  bool nesterov;
  template <class S>
  KerasMomentum(KernelContext& c, const S& s)
      : lr(s("lr")), momentum(s("momentum")), nesterov(c.bool_attr("use_nesterov")) {}
  RILL_FORCE_INLINE void apply(C& var, C& accum, C g) const {
    accum = accum * momentum - g * lr;
    var += nesterov ? accum * momentum - g * lr : accum;
  }
};

template <class C>
struct Adagrad {
  C lr, epsilon;
  bool update_slots;
  template <class S>
  Adagrad(KernelContext& c, const S& s)
      : lr(s("lr")),
        epsilon(c.op().find_input("epsilon") < 0 ? C(0) : s("epsilon")),
        update_slots(c.bool_attr("update_slots")) {}
  RILL_FORCE_INLINE void apply(C& var, C& accum, C g) const {
    accum += update_slots ? g * g : C(0);
    var -= lr * g / (std::sqrt(accum) + epsilon);
  }
};

// Keras adds epsilon below the root.
template <class C>
struct AdagradKeras {
  C lr, epsilon;
  template <class S>
  AdagradKeras(KernelContext&, const S& s) : lr(s("lr")), epsilon(s("epsilon")) {}
  RILL_FORCE_INLINE void apply(C& var, C& accum, C g) const {
    accum += g * g;
    var -= lr * g / std::sqrt(accum + epsilon);
  }
};

template <class C>
struct Adadelta {
  C lr, rho, epsilon;
  template <class S>
  Adadelta(KernelContext&, const S& s) : lr(s("lr")), rho(s("rho")), epsilon(s("epsilon")) {}
  RILL_FORCE_INLINE void apply(C& var, C& accum, C& accum_update, C g) const {
    accum = accum * rho + g * g * (1 - rho);
    const C step = std::sqrt(accum_update + epsilon) / std::sqrt(accum + epsilon) * g;
    accum_update = accum_update * rho + step * step * (1 - rho);
    var -= step * lr;
  }
};

template <class C>
struct RMSProp {
  C lr, rho, momentum, epsilon;
  template <class S>
  RMSProp(KernelContext&, const S& s)
      : lr(s("lr")), rho(s("rho")), momentum(s("momentum")), epsilon(s("epsilon")) {}
  RILL_FORCE_INLINE void apply(C& var, C& ms, C& mom, C g) const {
    ms += (g * g - ms) * (1 - rho);
    mom = mom * momentum + lr * g / std::sqrt(ms + epsilon);
    var -= mom;
  }
};

template <class C>
struct CenteredRMSProp {
  C lr, rho, momentum, epsilon;
  template <class S>
  CenteredRMSProp(KernelContext&, const S& s)
      : lr(s("lr")), rho(s("rho")), momentum(s("momentum")), epsilon(s("epsilon")) {}
  RILL_FORCE_INLINE void apply(C& var, C& mg, C& ms, C& mom, C g) const {
    ms += (g * g - ms) * (1 - rho);
    mg += (g - mg) * (1 - rho);
    mom = mom * momentum + lr * g / std::sqrt(ms - mg * mg + epsilon);
    var -= mom;
  }
};

// 1 - beta: from beta, or as the caller worked it out in double precision.
template <class S>
auto rest_of(KernelContext& c, const S& s, const char* beta, const char* rest) {
  return c.op().find_input(rest) < 0 ? 1 - s(beta) : s(rest);
}

template <class C>
struct Adam {
  C step, rest1, rest2, epsilon;
  bool nesterov;
  template <class S>
  Adam(KernelContext& c, const S& s)
      : step(s("lr") * std::sqrt(1 - s("beta2_power")) / (1 - s("beta1_power"))),
        rest1(rest_of(c, s, "beta1", "rest1")),
        rest2(rest_of(c, s, "beta2", "rest2")),
        epsilon(s("epsilon")) {
    const AttrValue* n = c.find_attr("use_nesterov");
    nesterov = n && n->as_bool();
  }
  RILL_FORCE_INLINE void apply(C& var, C& m, C& v, C g) const {
    m += (g - m) * rest1;
    v += (g * g - v) * rest2;
    const C direction = nesterov ? g * rest1 + m * (1 - rest1) : m;
    var -= direction * step / (std::sqrt(v) + epsilon);
  }
};

template <class C>
struct AdamAmsgrad {
  C step, rest1, rest2, epsilon;
  template <class S>
  AdamAmsgrad(KernelContext& c, const S& s)
      : step(s("lr") * std::sqrt(1 - s("beta2_power")) / (1 - s("beta1_power"))),
        rest1(rest_of(c, s, "beta1", "rest1")),
        rest2(rest_of(c, s, "beta2", "rest2")),
        epsilon(s("epsilon")) {}
  RILL_FORCE_INLINE void apply(C& var, C& m, C& v, C& vhat, C g) const {
    m += (g - m) * rest1;
    v += (g * g - v) * rest2;
    vhat = vhat > v ? vhat : v;
    var -= m * step / (std::sqrt(vhat) + epsilon);
  }
};

template <class C>
struct AdaMax {
  C step, beta1, beta2, epsilon;
  template <class S>
  AdaMax(KernelContext&, const S& s)
      : step(s("lr") / (1 - s("beta1_power"))),
        beta1(s("beta1")),
        beta2(s("beta2")),
        epsilon(s("epsilon")) {}
  RILL_FORCE_INLINE void apply(C& var, C& m, C& v, C g) const {
    m += (g - m) * (1 - beta1);
    const C a = g < 0 ? -g : g, b = beta2 * v;
    v = a > b ? a : b;
    var -= step * m / (v + epsilon);
  }
};

template <class C>
struct Nadam {
  C lr, beta1, beta2, epsilon, m_scale, g_scale, v_scale;
  template <class S>
  Nadam(KernelContext&, const S& s)
      : lr(s("lr")),
        beta1(s("beta1")),
        beta2(s("beta2")),
        epsilon(s("epsilon")),
        m_scale(s("u_next") / (1 - s("u_product_next"))),
        g_scale((1 - s("u")) / (1 - s("u_product"))),
        v_scale(1 / (1 - s("beta2_power"))) {}
  RILL_FORCE_INLINE void apply(C& var, C& m, C& v, C g) const {
    m += (g - m) * (1 - beta1);
    v += (g * g - v) * (1 - beta2);
    var -= (m_scale * m + g_scale * g) * lr / (std::sqrt(v * v_scale) + epsilon);
  }
};

template <class C>
struct Ftrl {
  C lr, l1, l2, l2_shrinkage, lr_power;
  bool by_lr;
  template <class S>
  Ftrl(KernelContext& c, const S& s)
      : lr(s("lr")),
        l1(s("l1")),
        l2(s("l2")),
        l2_shrinkage(c.op().find_input("l2_shrinkage") < 0 ? C(0) : s("l2_shrinkage")),
        lr_power(s("lr_power")),
        by_lr(c.bool_attr("multiply_linear_by_lr")) {}
  RILL_HOST_DEVICE C power(C x) const {
    return lr_power == C(-0.5) ? std::sqrt(x) : std::pow(x, -lr_power);
  }
  RILL_HOST_DEVICE void apply(C& var, C& accum, C& linear, C g) const {
    const C shrunk = g + 2 * l2_shrinkage * var, next = accum + g * g;
    const C grown = power(next) - power(accum);
    if (by_lr) {
      linear += shrunk * lr - grown * var;
      const C quadratic = power(next) + 2 * l2 * lr;
      var = std::abs(linear) > l1 * lr ? ((linear > 0 ? l1 : -l1) * lr - linear) / quadratic : C(0);
    } else {
      linear += shrunk - grown / lr * var;
      const C quadratic = power(next) / lr + 2 * l2;
      var = std::abs(linear) > l1 ? ((linear > 0 ? l1 : -l1) - linear) / quadratic : C(0);
    }
    accum = next;
  }
};

// var -= alpha * delta
template <class C>
struct GradientDescent {
  C alpha;
  template <class S>
  GradientDescent(KernelContext&, const S& s) : alpha(s("alpha")) {}
  RILL_FORCE_INLINE void apply(C& var, C g) const { var = var - alpha * g; }
};

// The scalar inputs of an update, by name.
template <class T, class C>
struct Scalars {
  KernelContext& c;
  C operator()(const char* name) const { return static_cast<C>(*c.in<T>(c.op().find_input(name))); }
};

}  // namespace rill::functors::rules
