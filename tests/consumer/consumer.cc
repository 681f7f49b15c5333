// What any user's program relies on: the version, errors caught by their class
// across the library's border, and other libraries that Rill uses inside.
#include <cstdio>
#include <string>

#include "beside.h"
#include "rill/core/op.h"
#include "rill/rill.h"

namespace {

bool catches_invalid_argument() {
  try {
    rill::matmul(rill::ones({2, 3}), rill::ones({2, 3}));
  } catch (const rill::errors::InvalidArgument& error) {
    return std::string(error.what()).find("[matmul]") != std::string::npos;
  } catch (...) {
    return false;
  }
  return false;
}

// Kernels, tape and optimizer through the library's border.
bool trains() {
  rill::Variable w(0.f);
  rill::keras::optimizers::SGD sgd({.learning_rate = 0.25});
  for (int i = 0; i < 20; ++i) sgd.minimize([&] { return rill::square(w - 3.f); }, {w});
  return w.item<float>() > 2.99f && w.item<float>() < 3.01f;
}

// An archive linked carelessly loses self-registered ops; count them here.
std::size_t ops() { return rill::list_ops().size(); }

}  // namespace

int main() {
  std::printf("rill %s, beside %s\n", rill::version(), libraries_beside().c_str());
  if (!catches_invalid_argument()) {
    std::printf("errors::InvalidArgument was not caught\n");
    return 1;
  }
  if (ops() < 270) {
    std::printf("only %zu ops are registered\n", ops());
    return 1;
  }
  if (!trains()) {
    std::printf("a step of training went wrong\n");
    return 1;
  }
  std::printf("%zu ops\n", ops());
  std::printf("ok\n");
  return 0;
}
