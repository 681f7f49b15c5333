#pragma once
#include <type_traits>

namespace rill::detail {

// The signature of a member function, without its class.
template <class M>
struct MemberSignature;
template <class C, class R, class... A>
struct MemberSignature<R (C::*)(A...)> {
  using type = R(A...);
};
template <class C, class R, class... A>
struct MemberSignature<R (C::*)(A...) const> {
  using type = R(A...) const;
};
template <class C, class R, class... A>
struct MemberSignature<R (C::*)(A...) noexcept> : MemberSignature<R (C::*)(A...)> {};
template <class C, class R, class... A>
struct MemberSignature<R (C::*)(A...) const noexcept> : MemberSignature<R (C::*)(A...) const> {};

template <class Own, class Virtual>
inline constexpr bool same_signature =
    std::is_same_v<typename MemberSignature<Own>::type, typename MemberSignature<Virtual>::type>;

}  // namespace rill::detail

// True: the class C has a function with the name of a virtual one of its base, but with another
// signature, so that it hides that one and is never called. `override` would have told; compilers
// say nothing without -Woverloaded-virtual. (A name that C overloads is not looked at.)
#define RILL_HIDES_VIRTUAL(C, Base, function)                                                  \
  requires {                                                                                   \
    requires !rill::detail::same_signature<decltype(&C::function), decltype(&Base::function)>; \
  }
// Stops the compiler then. Write it where a template first sees the class of a user's object.
#define RILL_CHECK_OVERRIDES(C, Base, function)                    \
  static_assert(!RILL_HIDES_VIRTUAL(C, Base, function),            \
                "this class has a function `" #function            \
                "` whose parameters, result or const "             \
                "differ from those of " #Base                      \
                ", so it would never be called: write `override` " \
                "behind it, and compare it with " #Base "::" #function)
