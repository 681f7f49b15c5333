#include <algorithm>
#include <iostream>

#include "rill/base/check.h"
#include "rill/keras/models/model_impl.h"

// The table of a model's layers, as Keras prints it.
namespace rill::keras {

namespace {

// Characters of UTF-8, of which the table counts columns.
std::size_t width_of(const std::string& text) {
  return static_cast<std::size_t>(
      std::count_if(text.begin(), text.end(), [](char c) { return (c & 0xC0) != 0x80; }));
}
// The first characters of a text, taken off it.
std::string take(std::string& text, std::size_t characters) {
  std::size_t end = 0;
  while (end < text.size() && ((text[end] & 0xC0) == 0x80 || characters-- > 0)) ++end;
  std::string taken = text.substr(0, end);
  text.erase(0, end);
  return taken;
}

// Rows of cells between rules. A model inside is drawn in a frame, and its level is the number of
// frames around it.
class Table {
 public:
  Table(std::vector<std::size_t> ends, std::string& out) : ends_(std::move(ends)), out_(out) {}

  void rule(const char* c) { framed(0, c); }
  void blank(std::size_t level) { framed(level, " "); }
  void open_frame(std::size_t level) { framed(level, kFrame); }
  void close_frame(std::size_t level) { framed(level - 1, kFrame); }

  // A cell that is too long continues in the next line.
  void row(std::vector<std::string> cells, std::size_t level = 0) {
    do {
      std::string line(level, '|');
      line += ' ';
      for (std::size_t i = 0; i < cells.size(); ++i) {
        const bool last = i + 1 == cells.size();
        const std::size_t taken = (i == 0 ? level : ends_[i - 1]) + (last ? 0 : kGap);
        line += next_line(cells[i], ends_[i] > taken ? ends_[i] - taken : 1);
        const std::size_t end = last ? ends_[i] - level : ends_[i], width = width_of(line);
        if (width < end) line.append(end - width, ' ');
      }
      out_ += line + std::string(level, '|') + '\n';
    } while (std::any_of(cells.begin(), cells.end(), [](auto& c) { return !c.empty(); }));
  }

 private:
  static constexpr std::size_t kGap = 3;  // between a column and the next
  static constexpr const char* kFrame = "\u00AF";

  // What the next line has of a cell: up to where a part of a list ends, or what there is room for.
  static std::string next_line(std::string& cell, std::size_t room) {
    std::string rest = cell;
    const std::string fits = take(rest, room);
    std::size_t cut = fits.size();
    for (const char* end : {"),", "},", "],", "',"})
      if (const auto at = fits.find(end); at != fits.npos) cut = std::min(cut, at + 2);
    cell.erase(0, cut);
    return fits.substr(0, cut);
  }
  void framed(std::size_t level, const char* c) {
    const std::string sides(level, '|');
    out_ += sides;
    for (std::size_t i = 2 * level; i < ends_.back(); ++i) out_ += c;
    out_ += sides + '\n';
  }

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

// Shapes in the structure of a result: "[(None, 2), (None, 3)]", "{'p': (None, 1)}".
std::string shapes_in(const Nest& structure, const std::vector<TensorShape>& shapes,
                      std::size_t& next) {
  if (structure.is_tensor() || structure.is_composite()) return shapes.at(next++).to_string();
  std::string s;
  const std::vector<std::string> keys =
      structure.is_dict() ? structure.keys() : std::vector<std::string>();
  for (std::size_t i = 0; i < structure.size(); ++i) {
    if (i > 0) s += ", ";
    if (!keys.empty()) s += "'" + keys[i] + "': ";
    s +=
        shapes_in(keys.empty() ? structure[static_cast<int>(i)] : structure[keys[i]], shapes, next);
  }
  return (keys.empty() ? "[" : "{") + s + (keys.empty() ? "]" : "}");
}
std::string shapes_text(const Nest& structure, const std::vector<TensorShape>& shapes) {
  std::size_t next = 0;
  return shapes.size() == 1 && !structure.is_dict() ? shapes[0].to_string()
                                                    : shapes_in(structure, shapes, next);
}
std::string call_text(const KerasNode& n) {
  std::vector<TensorShape> shapes;
  auto* node = const_cast<KerasNode*>(&n);
  retain(node);
  for (const Nest& value : values_of(symbolic_outputs(Ref<KerasNode>(node))))
    shapes.push_back(shape_of(value));
  return n.is_input() ? "[" + shapes[0].to_string() + "]" : shapes_text(n.outputs, shapes);
}

// `drawn`: the layer is part of a model whose shapes are known.
std::string shape_text(LayerImpl& l, bool drawn) {
  if (const std::vector<Tensor> ends = l.outputs(); !ends.empty()) {
    const auto* graph = dynamic_cast<const FunctionalImpl*>(&l);
    const Nest outputs = graph ? graph->output_nest() : Nest(ends);
    std::vector<TensorShape> shapes;
    for (const Nest& value : values_of(outputs)) shapes.push_back(shape_of(value));
    return shapes_text(outputs, shapes);
  }
  if (!l.inbound.empty()) {
    const std::string first = call_text(*l.inbound[0]);
    return std::all_of(l.inbound.begin(), l.inbound.end(),
                       [&](const KerasNode* n) { return call_text(*n) == first; })
               ? first
               : "multiple";
  }
  return drawn && l.last_output_shape.has_rank() ? l.last_output_shape.to_string() : "multiple";
}

// The calls that a layer's input comes from: "['dense[0][0]']".
std::string connections(const FunctionalImpl& model, const LayerImpl& l) {
  std::vector<const KerasNode*> calls;
  for (const Ref<KerasNode>& n : model.nodes())
    if (n->layer.get() == &l && !n->is_input()) calls.push_back(n.get());
  std::sort(calls.begin(), calls.end(),
            [](const KerasNode* a, const KerasNode* b) { return a->id < b->id; });
  std::string s;
  const KerasSymbol* before = nullptr;
  for (const KerasNode* n : calls)
    for (const Tensor& t : n->leaves())
      if (const KerasSymbol* in = keras_symbol(t)) {
        if (!is_more_of(before, *in))
          s += format("{}'{}[{}][{}]'", s.empty() ? "" : ", ", in->node->layer->name(),
                      in->node->index, in->node->value_of(in->index));
        before = in;
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
    const KerasSymbol* last = nullptr;
    for (const Tensor& t : n->leaves())
      if (const KerasSymbol* s = keras_symbol(t)) {
        if (!is_more_of(last, *s)) symbolic += s->node.get() == before ? 1 : 2;
        last = s;
      }
    if (before ? symbolic != 1 : !n->is_input()) return false;
    before = n.get();
  }
  return true;
}

}  // namespace

std::string Model::summary_text(SummaryOptions o) const {
  ModelImpl& m = model_impl();
  LayerObjects::introduce(*this);
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
  std::vector<std::string> head{"Layer (type)", "Output Shape", "Param #"};
  if (connected) head.push_back("Connected to");
  if (o.show_trainable) {
    constexpr std::size_t kColumn = 11;
    ends.push_back(ends.back() + kColumn);
    head.push_back("Trainable");
  }
  std::string out = format("Model: \"{}\"\n", m.name());
  Table table(ends, out);
  table.rule("_");
  table.row(head);
  table.rule("=");
  const auto add_layers = [&](const auto& self, ModelImpl& model, std::size_t level) -> void {
    const std::vector<LayerRef> all = model.layers();
    for (std::size_t i = 0; i < all.size(); ++i) {
      LayerImpl& l = all[i]->impl();
      std::string params = std::to_string(params_of(l, LayerImpl::Which::all));
      if (!l.built && l.own.empty() && l.children.empty() && params == "0" &&
          !l.last_output_shape.has_rank() && l.inbound.empty())
        params = "0 (unused)";
      std::vector<std::string> cells{l.name() + " (" + l.class_name() + ")",
                                     shape_text(l, has_graph(model)), params};
      if (connected) cells.push_back(connections(*graph, l));
      if (o.show_trainable) cells.push_back(l.trainable ? "Y" : "N");
      table.row(cells, level);
      if (o.expand_nested && l.is_model() && !static_cast<ModelImpl&>(l).layers().empty()) {
        table.open_frame(level + 1);
        self(self, static_cast<ModelImpl&>(l), level + 1);
        table.close_frame(level + 1);
      } else if (level == 0 || i + 1 < all.size()) {
        table.blank(level);
      }
    }
  };
  add_layers(add_layers, m, 0);
  table.rule("=");
  const auto total = [&](const char* what, LayerImpl::Which which) {
    out += format("{}: {} ({})\n", what, params_of(m, which), bytes_of(m.weights(which)));
  };
  total("Total params", LayerImpl::Which::all);
  total("Trainable params", LayerImpl::Which::trainable);
  total("Non-trainable params", LayerImpl::Which::non_trainable);
  table.rule("_");
  return out;
}

void Model::summary(SummaryOptions o) const { std::cout << summary_text(o) << std::flush; }

}  // namespace rill::keras
