#pragma once
#include <optional>

#include "rill/keras/models/model.h"
#include "rill/keras/models/sequence.h"

// The data of fit, evaluate and predict as batches.
namespace rill::keras {

// Arrays with the samples along axis 0. Floats become floatx, as Keras makes them.
// InvalidArgument when their numbers of samples differ or there is none.
class Arrays {
 public:
  Arrays(const char* what, const Nest& x, const Nest* y, const Nest& sample_weight);
  std::int64_t samples() const { return samples_; }
  // The samples from `begin` to `end`.
  Arrays part(std::int64_t begin, std::int64_t end) const;
  void weigh_classes(const ClassWeight& class_weight);
  // (x,), (x, y) or (x, y, sample_weight).
  Nest all() const;

 private:
  Arrays() = default;
  Nest x_, y_, weight_;
  bool has_y_ = false;
  std::int64_t samples_ = 0;
};

// What an epoch goes through.
class Batches {
 public:
  struct Options {
    std::int64_t batch_size;
    bool shuffle = false;
    std::int64_t steps = 0;  // 0: all
    int epochs = 1;          // with steps: the data are there this often
  };
  Batches(const Arrays& arrays, const Options& options);
  Batches(const char* what, const data::Dataset& dataset, std::int64_t steps);
  // Each epoch begins with the first of an order, of chance where `shuffle` is set.
  Batches(const char* what, utils::Sequence& sequence, std::int64_t steps, bool shuffle = false,
          ClassWeight class_weight = {});
  // How many an epoch has; -1 when that shows only at the end.
  std::int64_t steps() const { return steps_; }
  void begin_epoch();
  // False at the end of the epoch. With steps given the data go on where the last epoch ended;
  // ran_out() then says that there were too few.
  bool next(Nest* batch);
  bool ran_out() const { return ran_out_; }
  void end_epoch();

  // The place in the data, and going on from it after `done` batches of an epoch: then
  // begin_epoch() is called for the epoch after it only.
  std::string save() const;
  void restore(std::string_view state, std::int64_t done);

 private:
  Nest batch_of_sequence();
  const char* what_ = "fit";
  std::optional<data::Dataset> dataset_;
  utils::Sequence* sequence_ = nullptr;  // instead of the dataset
  bool shuffle_ = false;
  ClassWeight class_weight_;
  std::vector<std::int64_t> order_;  // of an epoch
  std::int64_t steps_, limit_ = 0, done_ = 0;
  std::optional<data::Iterator> iterator_;
  bool ran_out_ = false;
};

// Whether there are weights: a tensor, or some of them.
bool is_given(const Nest& sample_weight);
// Weights of samples from those of their classes, times those that they have already.
Tensor times_class_weights(const Nest& sample_weight, const Nest& labels,
                           const ClassWeight& class_weight);

}  // namespace rill::keras
