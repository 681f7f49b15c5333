#pragma once
#include "rill/summary/summary.h"

// tf.contrib.summary, TensorFlow 1's summaries of eager execution. The files are those of
// tf::summary; two things differ: nothing is recorded outside a scope that asks for it, and the
// step of a value is the global step unless it is given.
//
//   writer.set_as_default();
//   ...
//     auto scope = tf::contrib::summary::record_summaries_every_n_global_steps(100);
//     tf::contrib::summary::scalar("loss", loss);
namespace rill RILL_API {
namespace contrib {
namespace summary {

using rill::summary::create_file_writer;
using rill::summary::FileWriterOptions;
using rill::summary::SummaryWriter;

// While it lives, values of this thread are recorded where its condition holds.
class [[nodiscard]] RecordScope {
 public:
  ~RecordScope();
  RecordScope(const RecordScope&) = delete;
  RecordScope& operator=(const RecordScope&) = delete;

 private:
  friend RecordScope always_record_summaries();
  friend RecordScope never_record_summaries();
  friend RecordScope record_summaries_every_n_global_steps(std::int64_t n,
                                                           const Variable& global_step);
  explicit RecordScope(std::function<bool()> condition);
  struct Entered;
  std::unique_ptr<Entered> entered_;
  rill::summary::DefaultScope condition_;
};

RecordScope always_record_summaries();
RecordScope never_record_summaries();
// Where the global step (the program's, unless another is given) is a multiple of n, which is
// at least 1.
RecordScope record_summaries_every_n_global_steps(std::int64_t n, const Variable& global_step = {});
// Whether a value would be written now.
bool should_record_summaries();

struct ScalarOptions {
  rill::summary::Step step = {};  // by default the global step
};
// As tf::summary::scalar; false, too, outside a scope that records.
bool scalar(std::string_view name, const Operand& tensor, const ScalarOptions& options = {});

}  // namespace summary
}  // namespace contrib
}  // namespace RILL_API
