#pragma once
#include <cstdint>

#include "rill/core/nest.h"

namespace rill RILL_API {
namespace keras {
namespace utils {

// A source of batches that is asked for them by number, as fit, evaluate and predict take it. A
// user's class says how many there are and makes each:
//
//   struct Pictures : keras::utils::Sequence {
//     std::int64_t size() const override { return 100; }
//     tf::Nest at(std::int64_t index) override { return tf::tuple(images(index), labels(index)); }
//   };
//   Pictures pictures;
//   model.fit(pictures, {.epochs = 5});
//
// fit asks for the batches of each epoch in an order of chance, unless shuffle is false.
class Sequence {
 public:
  virtual ~Sequence();
  virtual std::int64_t size() const = 0;    // batches of an epoch: Python's __len__
  virtual Nest at(std::int64_t index) = 0;  // x, (x, y) or (x, y, sample_weight): __getitem__
  virtual void on_epoch_end() {}            // runs after each epoch
};
// Its name in Keras 3.
using PyDataset = Sequence;

}  // namespace utils
}  // namespace keras
}  // namespace RILL_API
