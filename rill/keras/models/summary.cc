#include <algorithm>
#include <iostream>

#include "rill/base/check.h"
#include "rill/keras/models/model_impl.h"

// The table of a model's layers, as Keras prints it.
namespace rill::keras {

namespace {

class Table {
 public:
  Table(std::vector<std::size_t> ends, std::string& out) : ends_(std::move(ends)), out_(out) {}
  void rule(char c) {
    out_.append(ends_.back(), c);
    out_ += '\n';
  }
  // A cell that is too long goes on in the next line.
  void row(std::vector<std::string> cells) {
    bool first = true;
    while (first || std::any_of(cells.begin(), cells.end(), [](auto& c) { return !c.empty(); })) {
      std::string line = " ";
      for (std::size_t i = 0; i < cells.size(); ++i) {
        const std::size_t room = ends_[i] > line.size() + 1 ? ends_[i] - line.size() : 1;
        std::string& cell = cells[i];
        // Broken where the text itself has a break, else where it is full.
        std::size_t cut = cell.find('\n');
        std::size_t skip = cut == cell.npos ? 0 : 1;
        if (cut == cell.npos) cut = cell.size();
        if (cut >= room && i + 1 < cells.size()) cut = room - 1, skip = 0;
        line += cell.substr(0, cut);
        cell.erase(0, cut + skip);
        line.append(ends_[i] > line.size() ? ends_[i] - line.size() : 0, ' ');
      }
      out_ += line + '\n';
      first = false;
    }
  }
  void blank() {
    out_.append(ends_.back(), ' ');
    out_ += '\n';
  }

 private:
  std::vector<std::size_t> ends_;
  std::string& out_;
};

std::int64_t params_of(const LayerImpl& l, LayerImpl::Which which) {
  std::int64_t n = 0;
  for (const Variable& v : l.weights(which)) n += v.shape().num_elements();
  return n;
}

std::string bytes_of(const std::vector<Variable>& list) {
  double bytes = 0;
  for (const Variable& v : list)
    bytes +=
        static_cast<double>(v.shape().num_elements()) * static_cast<double>(v.dtype().itemsize());
  const char* units[] = {"Byte", "KB", "MB", "GB", "TB"};
  int unit = 0;
  while (bytes >= 1024 && unit < 4) bytes /= 1024, ++unit;
  char text[64];
  std::snprintf(text, sizeof text, "%.2f %s", bytes, units[unit]);
  return text;
}

std::string shape_text(LayerImpl& l, bool drawn) {
  if (!l.inbound.empty()) {
    const KerasNode& n = *l.inbound[0];
    if (l.inbound.size() > 1)
      for (const KerasNode* o : l.inbound)
        if (!(o->specs[0].shape == n.specs[0].shape)) return "multiple";
    std::string s;
    for (const ValueSpec& v : n.specs) s += (s.empty() ? "" : ", ") + v.shape.to_string();
    return n.is_input() || n.specs.size() > 1 ? "[" + s + "]" : s;
  }
  return drawn && l.last_output_shape.has_rank() ? l.last_output_shape.to_string() : "multiple";
}

// The calls that a layer's input comes from: "dense[0][0]".
std::string connections(const FunctionalImpl& model, const LayerImpl& l) {
  std::string s;
  for (const Ref<KerasNode>& n : model.nodes()) {
    if (n->layer.get() != &l || n->is_input()) continue;
    for (const Tensor& t : n->leaves())
      if (const KerasSymbol* in = keras_symbol(t))
        s += format("{}'{}[{}][{}]'", s.empty() ? "" : ",\n ", in->node->layer->name(),
                    in->node->index, in->index);
  }
  return "[" + s + "]";
}

// One after the other, so that the table need not say what is connected with what.
bool is_chain(const FunctionalImpl& model) {
  std::vector<const LayerImpl*> seen;
  const KerasNode* before = nullptr;
  for (const Ref<KerasNode>& n : model.nodes()) {
    if (std::find(seen.begin(), seen.end(), n->layer.get()) != seen.end()) return false;
    seen.push_back(n->layer.get());
    int symbolic = 0;
    for (const Tensor& t : n->leaves())
      if (const KerasSymbol* s = keras_symbol(t)) symbolic += s->node.get() == before ? 1 : 2;
    if (before ? symbolic != 1 : !n->is_input()) return false;
    before = n.get();
  }
  return true;
}

}  // namespace

std::string Model::summary_text(SummaryOptions o) const {
  ModelImpl& m = model_impl();
  CallMachinery::ensure_name(*this);
  RILL_CHECK(m.built || !m.weights(LayerImpl::Which::all).empty(), failed_precondition,
             "[{}] this model has not yet been built. Build the model first by calling build() or "
             "by calling the model on a batch of data",
             m.name());
  const auto* graph = dynamic_cast<const FunctionalImpl*>(&m);
  const bool connected = graph && !is_chain(*graph);
  const auto width = static_cast<double>(o.line_length > 0 ? o.line_length : connected ? 98 : 65);
  std::vector<std::size_t> ends;
  for (const double share :
       connected ? std::vector<double>{.3, .6, .70, 1.} : std::vector<double>{.45, .85, 1.})
    ends.push_back(static_cast<std::size_t>(width * share));
  std::string out = format("Model: \"{}\"\n", m.name());
  Table table(ends, out);
  table.rule('_');
  std::vector<std::string> head{"Layer (type)", "Output Shape", "Param #"};
  if (connected) head.push_back("Connected to");
  table.row(head);
  table.rule('=');
  const auto add = [&](const auto& self, LayerImpl& l, const std::string& indent) -> void {
    std::string params = std::to_string(params_of(l, LayerImpl::Which::all));
    if (!l.built && l.own.empty() && l.children.empty() && params == "0" &&
        !l.last_output_shape.has_rank() && l.inbound.empty())
      params = "0 (unused)";
    std::vector<std::string> cells{indent + l.name() + " (" + l.class_name() + ")",
                                   shape_text(l, has_graph(m)), params};
    if (connected) cells.push_back(connections(*graph, l));
    table.row(cells);
    table.blank();
    if (o.expand_nested && l.is_model())
      for (const LayerRef& inner : static_cast<ModelImpl&>(l).layers())
        self(self, inner->impl(), indent + "| ");
  };
  for (const LayerRef& l : m.layers()) add(add, l->impl(), "");
  table.rule('=');
  const auto total = [&](const char* what, LayerImpl::Which which) {
    out += format("{}: {} ({})\n", what, params_of(m, which), bytes_of(m.weights(which)));
  };
  total("Total params", LayerImpl::Which::all);
  total("Trainable params", LayerImpl::Which::trainable);
  total("Non-trainable params", LayerImpl::Which::non_trainable);
  table.rule('_');
  return out;
}

void Model::summary(SummaryOptions o) const { std::cout << summary_text(o) << std::flush; }

}  // namespace rill::keras
