#pragma once
#include <string>

namespace rill::keras {

class LayerImpl;

// The layers whose calls this thread is in: what a weight made now is called.
class NameStack {
 public:
  explicit NameStack(const std::string& layer);
  ~NameStack();
  NameStack(const NameStack&) = delete;
  // "linear_2/dense_1/": the path of a layer that is being built here.
  static std::string path_for(const std::string& layer);
  static bool empty();

 private:
  std::size_t before_;
};

// For a time nothing is around: weights of a stack are named without the stack.
class NameStackReset {
 public:
  NameStackReset();
  ~NameStackReset();
  NameStackReset(const NameStackReset&) = delete;

 private:
  std::string before_;
};

// For a time a layer has another name, under which its weights are made.
class RenamedScope {
 public:
  RenamedScope(LayerImpl& layer, const std::string& name);
  ~RenamedScope();
  RenamedScope(const RenamedScope&) = delete;

 private:
  LayerImpl& layer_;
  const std::string before_;
};

}  // namespace rill::keras
