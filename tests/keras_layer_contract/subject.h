#pragma once
#include <string>
#include <vector>

#include "rill/keras/models/model.h"
#include "tests/keras_layer_contract/layer_test.h"

// The layer that is asked, what it is called on, and the chapters of the contract.
namespace rill::testing {

class Subject {
 public:
  explicit Subject(const LayerTest& test) : t(test) {}
  const LayerTest& t;

  // A fresh layer that was called once, with weights that are all different from 0 and 1.
  keras::LayerRef built() const;
  // The same under another policy for it and all in it.
  keras::LayerRef built(const char* policy) const;

  bool takes_indices() const { return t.input_dtype.is_integer(); }
  TensorShape input_shape(std::size_t i, std::int64_t batch) const;
  TensorShape output_shape(std::int64_t batch) const;
  // The first samples are the same for every batch size.
  std::vector<Tensor> inputs(std::int64_t batch = 2, DType floats = float32) const;
  // What the layer takes: one tensor or a list.
  Nest argument(const std::vector<Tensor>& inputs) const;
  std::vector<Tensor> call(const keras::LayerRef& layer, const std::vector<Tensor>& inputs,
                           keras::CallOptions options = {}) const;
  // Entries of a model, with an open batch.
  std::vector<Tensor> symbols() const;
};

// The policy of layers that are made while it lives.
class PolicyScope {
 public:
  explicit PolicyScope(const char* policy);
  PolicyScope(const PolicyScope&) = delete;
  ~PolicyScope();

 private:
  keras::DTypePolicy before_;
};

void randomize_weights(const keras::Layer& layer);
std::vector<double> numbers(const Tensor& t);
Tensor carrying(const Tensor& x, const Tensor& mask);
Tensor mask_of(const Tensor& x);  // undefined where there is none
void expect_same(const std::vector<Tensor>& got, const std::vector<Tensor>& want,
                 const std::string& what);
// `tolerance` is of the largest number.
void expect_close(const std::vector<Tensor>& got, const std::vector<Tensor>& want, double tolerance,
                  const std::string& what);

void check_shapes(const Subject& s);
void check_gradients(const Subject& s);
void check_masks(const Subject& s);
void check_precision(const Subject& s);
void check_errors(const Subject& s);
void check_weights(const Subject& s);
void check_config(const Subject& s);
void check_files(const Subject& s);
void check_training(const Subject& s);

}  // namespace rill::testing
