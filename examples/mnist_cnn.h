#pragma once
#include <rill/rill.h>

// The guide's convolutional network: probabilities of ten digits from pictures [n, 28, 28, 1].
struct CNN : rill::keras::Model {
  rill::keras::layers::Conv2D conv1{{.filters = 32,  // kernels, and so channels of the result
                                     .kernel_size = {5, 5},  // what a neuron sees
                                     .padding = "same",  // "valid" or "same": zeros keep the size
                                     .activation = rill::nn::relu}};
  rill::keras::layers::MaxPool2D pool1{{.pool_size = {2, 2}, .strides = 2}};
  rill::keras::layers::Conv2D conv2{
      {.filters = 64, .kernel_size = {5, 5}, .padding = "same", .activation = rill::nn::relu}};
  rill::keras::layers::MaxPool2D pool2{{.pool_size = {2, 2}, .strides = 2}};
  rill::keras::layers::Reshape flatten{rill::TensorShape{7 * 7 * 64}};
  rill::keras::layers::Dense dense1{{.units = 1024, .activation = rill::nn::relu}},
      dense2{{.units = 10}};
  CNN() {
    track("conv1", conv1);
    track("pool1", pool1);
    track("conv2", conv2);
    track("pool2", pool2);
    track("flatten", flatten);
    track("dense1", dense1);
    track("dense2", dense2);
  }
  rill::Tensor call(const rill::Tensor& inputs, const rill::keras::CallContext&) override {
    auto x = conv1(inputs);  // [batch_size, 28, 28, 32]
    x = pool1(x);            // [batch_size, 14, 14, 32]
    x = conv2(x);            // [batch_size, 14, 14, 64]
    x = pool2(x);            // [batch_size, 7, 7, 64]
    x = flatten(x);          // [batch_size, 7 * 7 * 64]
    x = dense1(x);           // [batch_size, 1024]
    x = dense2(x);           // [batch_size, 10]
    return rill::nn::softmax(x);
  }
};
