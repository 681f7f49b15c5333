#pragma once
#include <initializer_list>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "rill/saving/trackable_ref.h"

namespace rill RILL_API {
namespace train {

// What became of a restore. Objects that come to be later take their values then, so that
// the answers may change.
class CheckpointStatus {
 public:
  // FailedPrecondition, with table(), unless every value of the checkpoint has an object
  // and every object that is there now was found in the checkpoint.
  const CheckpointStatus& assert_consumed() const;
  // The same of the objects alone: the checkpoint may hold more.
  const CheckpointStatus& assert_existing_objects_matched() const;
  // At least one value was restored.
  const CheckpointStatus& assert_nontrivial_match() const;
  // Part of the checkpoint is not needed: no warning tells of it.
  const CheckpointStatus& expect_partial() const;

  // What was restored, what the checkpoint does not have ("missing") and what the program
  // does not have ("extra"), a line each.
  std::string table() const;
  // The paths of what is missing, and of what is extra.
  std::vector<std::string> missing() const;
  std::vector<std::string> extra() const;

  class Impl;
  explicit CheckpointStatus(std::shared_ptr<Impl> impl) : impl_(std::move(impl)) {}

 private:
  std::shared_ptr<Impl> impl_;
};

// Saves and restores the values of objects, not their code: variables, and whatever tracks
// variables (layers, models, optimizers, other checkpoints). Values are known by the names
// of the edges that lead to them, beginning with the names given here.
//
//   tf::train::Checkpoint checkpoint({{"model", model}, {"optimizer", optimizer}});
//   std::string path = checkpoint.save("./save/model.ckpt");   // "./save/model.ckpt-1"
//   checkpoint.restore(tf::train::latest_checkpoint("./save"));
//
// The files are TensorFlow's own, both ways. A handle: copies share the objects.
class Checkpoint {
 public:
  using Entry = std::pair<std::string, TrackableRef>;
  Checkpoint(std::initializer_list<Entry> objects);
  explicit Checkpoint(const std::vector<Entry>& objects);
  // The checkpoint of one object: names begin below it.
  explicit Checkpoint(const TrackableRef& root, std::initializer_list<Entry> more = {});

  // Writes PREFIX-1, PREFIX-2, ... and says in the file `checkpoint` beside it that this is
  // the newest. Returns the path, which restore() takes.
  std::string save(const std::string& file_prefix) const;
  // Writes exactly this prefix, counts nothing and leaves the file `checkpoint` alone.
  std::string write(const std::string& file_prefix) const;
  // Gives the objects their saved values, now or when they come to be. All is checked
  // before anything changes: InvalidArgument for a dtype or shape that does not fit,
  // DataLoss for damaged files, NotFound when there is none. An empty path restores nothing.
  CheckpointStatus restore(const std::string& save_path) const;
  // The same for what write() wrote.
  CheckpointStatus read(const std::string& save_path) const;
  Variable save_counter() const;  // int64: saves so far

  const Ref<TrackableNode>& trackable() const;

  class Impl;

 private:
  std::shared_ptr<Impl> impl_;
  friend class CheckpointManager;
};

}  // namespace train
}  // namespace RILL_API
