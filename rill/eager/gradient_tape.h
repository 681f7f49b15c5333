#pragma once
#include <string>
#include <vector>

#include "rill/core/gradient.h"
#include "rill/eager/variable.h"

namespace rill RILL_API {

class TapeImpl;
void retain(TapeImpl*) noexcept;
void release(TapeImpl*) noexcept;

// What a gradient is taken with respect to; keeps the identity of a Variable.
class Source {
 public:
  Source(const Tensor& t) : tensor_(t) {}
  Source(const Variable& v) : tensor_(v.handle()), variable_(true) {}
  const Tensor& tensor() const { return tensor_; }  // the handle, for a variable
  bool is_variable() const { return variable_; }

 private:
  Tensor tensor_;
  bool variable_ = false;
};

struct TapeOptions {
  bool persistent = false;
  bool watch_accessed_variables = true;
};
struct GradientOptions {
  TensorList output_gradients = {};
  std::string unconnected_gradients = "none";  // or "zero"
};

// Records what is computed while it lives, and plays it backwards. Trainable
// variables are watched when they are read, tensors when watch() says so. Lives
// on the thread that made it. gradient() ends the recording of a non-persistent
// tape for good and pauses that of a persistent one while it works; outer tapes
// record the gradient's own ops, which is how higher orders come about.
//
//   tf::Variable x(3.f);
//   tf::GradientTape tape;
//   auto y = x * x;
//   auto dy_dx = tape.gradient(y, x);  // 6.0
class GradientTape {
 public:
  explicit GradientTape(TapeOptions options = {});
  GradientTape(const GradientTape&) = delete;
  ~GradientTape();

  void watch(const Source& source);
  void watch(std::initializer_list<Source> sources);
  // The gradient of the sum of the target (and, with several, of all targets),
  // one a source; none where they are not connected. FailedPrecondition on the
  // second use of a non-persistent tape.
  Gradient gradient(const TensorList& target, const Source& source, GradientOptions options = {});
  Gradients gradient(const TensorList& target, std::initializer_list<Source> sources,
                     GradientOptions options = {});
  Gradients gradient(const TensorList& target, const std::vector<Variable>& sources,
                     GradientOptions options = {});
  Gradients gradient(const TensorList& target, const std::vector<Tensor>& sources,
                     GradientOptions options = {});
  // d target / d source, of shape target.shape + source.shape.
  Tensor jacobian(const Tensor& target, const Source& source, GradientOptions options = {});
  // The same where row i of the target depends on row i of the source alone: of shape
  // [rows] + target.shape[1:] + source.shape[1:], by as many walks back as a row has elements.
  Tensor batch_jacobian(const Tensor& target, const Source& source, GradientOptions options = {});

  // While the result lives, nothing is recorded.
  class [[nodiscard]] Pause {
   public:
    explicit Pause(TapeImpl* tape);
    Pause(const Pause&) = delete;
    ~Pause();

   private:
    TapeImpl* tape_;
  };
  Pause stop_recording();
  void reset();  // forgets everything and records again
  std::vector<Variable> watched_variables() const;

  // Why the gradient of target by source is none: where the path is cut and at
  // which line of the program. "" when there is a path.
  std::string why_none(const Tensor& target, const Source& source) const;

 private:
  Gradients compute(const TensorList& target, const std::vector<Tensor>& sources,
                    const GradientOptions& options);
  Ref<TapeImpl> impl_;
};

// Nothing that is computed while it lives is recorded by any tape.
class [[nodiscard]] StopRecordingScope {
 public:
  StopRecordingScope();
  StopRecordingScope(const StopRecordingScope&) = delete;
  ~StopRecordingScope();

 private:
  void* saved_;
};

}  // namespace RILL_API
