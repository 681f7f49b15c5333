#pragma once
#include <cstdint>
#include <memory>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "rill/base/overrides.h"
#include "rill/keras/models/logs.h"

namespace rill RILL_API {
namespace keras {

class Model;

// What a training did: the numbers of each epoch, by name.
class History {
 public:
  // Values by name, one per epoch, in the order of the names' first epoch.
  class Values {
   public:
    using Items = std::vector<std::pair<std::string, std::vector<double>>>;
    // NotFound, with the names that there are.
    const std::vector<double>& operator[](std::string_view name) const&;
    std::vector<double> operator[](std::string_view name) && {
      return static_cast<const Values&>(*this)[name];
    }
    bool contains(std::string_view name) const;
    const Items& items() const& { return items_; }
    Items items() && { return std::move(items_); }
    Items::const_iterator begin() const { return items_.begin(); }
    Items::const_iterator end() const { return items_.end(); }
    std::size_t size() const { return items_.size(); }
    std::vector<std::string> keys() const;

   private:
    friend class History;
    Items items_;
  };
  Values history;
  // The same without the field: fit(..)["loss"].
  const std::vector<double>& operator[](std::string_view name) const& { return history[name]; }
  std::vector<double> operator[](std::string_view name) && { return history[name]; }
  bool contains(std::string_view name) const { return history.contains(name); }
  const Values::Items& items() const& { return history.items(); }
  Values::Items items() && { return std::move(history).items(); }
  std::vector<int> epoch;  // the numbers of the epochs
  struct Params {
    int epochs = 0;
    std::int64_t steps = 0;  // -1: not known
    int verbose = 1;
  } params;
  void add(int epoch_number, const Logs& logs);
};

namespace callbacks {

// Hooks into fit, evaluate and predict. A user-defined callback overrides those that it needs.
// `model` and `params` are set before the first hook.
class Callback {
 public:
  virtual ~Callback();
  virtual void on_train_begin(const Logs& logs);
  virtual void on_train_end(const Logs& logs);
  virtual void on_epoch_begin(int epoch, const Logs& logs);
  virtual void on_epoch_end(int epoch, const Logs& logs);
  virtual void on_train_batch_begin(std::int64_t batch, const Logs& logs);
  virtual void on_train_batch_end(std::int64_t batch, const Logs& logs);
  virtual void on_test_begin(const Logs& logs);
  virtual void on_test_end(const Logs& logs);
  virtual void on_test_batch_begin(std::int64_t batch, const Logs& logs);
  virtual void on_test_batch_end(std::int64_t batch, const Logs& logs);
  virtual void on_predict_begin(const Logs& logs);
  virtual void on_predict_end(const Logs& logs);
  virtual void on_predict_batch_begin(std::int64_t batch, const Logs& logs);
  virtual void on_predict_batch_end(std::int64_t batch, const Logs& logs);
  // False: the hooks of batches are not called, so that the logs of a batch need not be read.
  virtual bool wants_batches() const { return true; }
  virtual void set_model(Model& m) { model = &m; }

  Model* model = nullptr;
  History::Params params;
  Logs extra;  // numbers of its own, which the history takes at the end of an epoch
};

namespace detail {
template <class C>
constexpr bool check_hooks() {
  RILL_CHECK_OVERRIDES(C, Callback, on_train_begin);
  RILL_CHECK_OVERRIDES(C, Callback, on_train_end);
  RILL_CHECK_OVERRIDES(C, Callback, on_epoch_begin);
  RILL_CHECK_OVERRIDES(C, Callback, on_epoch_end);
  RILL_CHECK_OVERRIDES(C, Callback, on_train_batch_begin);
  RILL_CHECK_OVERRIDES(C, Callback, on_train_batch_end);
  RILL_CHECK_OVERRIDES(C, Callback, on_test_begin);
  RILL_CHECK_OVERRIDES(C, Callback, on_test_end);
  RILL_CHECK_OVERRIDES(C, Callback, on_test_batch_begin);
  RILL_CHECK_OVERRIDES(C, Callback, on_test_batch_end);
  RILL_CHECK_OVERRIDES(C, Callback, on_predict_begin);
  RILL_CHECK_OVERRIDES(C, Callback, on_predict_end);
  RILL_CHECK_OVERRIDES(C, Callback, on_predict_batch_begin);
  RILL_CHECK_OVERRIDES(C, Callback, on_predict_batch_end);
  return true;
}
}  // namespace detail

}  // namespace callbacks

// A callback given to fit: one that has a name in the program is pointed at, so that its state
// can be read afterwards; a temporary one is kept.
class CallbackRef {
 public:
  template <class C>
  requires std::is_base_of_v<callbacks::Callback, C> CallbackRef(C& c)
      : callback_(&c, [](callbacks::Callback*) {}) {
    static_assert(callbacks::detail::check_hooks<C>());
  }
  template <class C>
  requires(std::is_base_of_v<callbacks::Callback, C> && !std::is_lvalue_reference_v<C>)
      CallbackRef(C&& c)
      : callback_(std::make_shared<C>(std::move(c))) {
    static_assert(callbacks::detail::check_hooks<C>());
  }
  callbacks::Callback& operator*() const { return *callback_; }
  callbacks::Callback* operator->() const { return callback_.get(); }

 private:
  std::shared_ptr<callbacks::Callback> callback_;
};

// The callbacks of a call of fit: one, or a list.
class Callbacks : public std::vector<CallbackRef> {
 public:
  using std::vector<CallbackRef>::vector;
  Callbacks() = default;
  Callbacks(std::vector<CallbackRef> list) : std::vector<CallbackRef>(std::move(list)) {}
  template <class C>
  requires std::is_base_of_v<callbacks::Callback, std::remove_cvref_t<C>> Callbacks(C&& one) {
    push_back(CallbackRef(std::forward<C>(one)));
  }
};

namespace callbacks {
using keras::CallbackRef;
}

}  // namespace keras
}  // namespace RILL_API
