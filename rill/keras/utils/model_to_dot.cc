#include <re2/re2.h>

#include <algorithm>
#include <set>

#include "rill/base/check.h"
#include "rill/keras/models/model_impl.h"
#include "rill/keras/utils/plot_model.h"

// The text of a model's drawing.
namespace rill::keras::utils {

namespace {

// ---- colours
struct Family {
  const char* fill;
  const char* line;  // of the frame, and of small text
};
constexpr Family kPlain{"#f4f5f7", "#6b7280"};
struct Member {
  const char* part;  // of the name of a class
  Family family;
};
// The first that fits is taken: GlobalAveragePooling1D is pooling before it is an Average.
constexpr Family kInput{"#e8ecf1", "#475569"}, kDense{"#dbeafe", "#1d4ed8"},
    kConvolution{"#d9f2e3", "#15803d"}, kPooling{"#d5f0ee", "#0f766e"},
    kNormalization{"#ece4fb", "#6d28d9"}, kRecurrent{"#fce1ef", "#be185d"},
    kAttention{"#fde4e4", "#b91c1c"}, kActivation{"#fdeed3", "#b45309"},
    kReshaping{"#f6efd0", "#8a6d0b"}, kMerging{"#dcf0fa", "#0369a1"}, kModel{"#e3e5fd", "#4338ca"};
constexpr Member kMembers[] = {
    {"InputLayer", kInput},
    {"Pooling", kPooling},
    {"LSTM", kRecurrent},
    {"GRU", kRecurrent},
    {"RNN", kRecurrent},
    {"Bidirectional", kRecurrent},
    {"TimeDistributed", kRecurrent},
    {"Conv", kConvolution},
    {"Attention", kAttention},
    {"Normalization", kNormalization},
    {"Rescaling", kNormalization},
    {"Dense", kDense},
    {"Embedding", kDense},
    {"Dropout", kPlain},
    {"Noise", kPlain},
    {"ELU", kActivation},
    {"ReLU", kActivation},
    {"Softmax", kActivation},
    {"Activation", kActivation},
    {"Flatten", kReshaping},
    {"Reshape", kReshaping},
    {"Permute", kReshaping},
    {"RepeatVector", kReshaping},
    {"Cropping", kReshaping},
    {"ZeroPadding", kReshaping},
    {"UpSampling", kReshaping},
    {"OpLambda", kMerging},
    {"Concatenate", kMerging},
    {"Add", kMerging},
    {"Subtract", kMerging},
    {"Multiply", kMerging},
    {"Average", kMerging},
    {"Maximum", kMerging},
    {"Minimum", kMerging},
    {"Dot", kMerging},
};

Family family_of(const LayerImpl& l) {
  if (l.is_model()) return kModel;
  for (const Member& m : kMembers)
    if (l.class_name().find(m.part) != std::string::npos) return m.family;
  return kPlain;
}

// ---- text
// How many bytes the letter at `at` has in UTF-8; 0 where none begins.
std::size_t letter_length(std::string_view s, std::size_t at) {
  const auto byte = [&](std::size_t i) {
    return i < s.size() ? static_cast<unsigned char>(s[i]) : 0u;
  };
  const unsigned first = byte(at);
  const std::size_t n = first < 0x80   ? 1
                        : first < 0xc2 ? 0
                        : first < 0xe0 ? 2
                        : first < 0xf0 ? 3
                        : first < 0xf5 ? 4
                                       : 0;
  for (std::size_t i = 1; i < n; ++i)
    if ((byte(at + i) & 0xc0) != 0x80) return 0;
  const bool too_long =
      (first == 0xe0 && byte(at + 1) < 0xa0) || (first == 0xf0 && byte(at + 1) < 0x90);
  const bool no_letter =
      (first == 0xed && byte(at + 1) >= 0xa0) || (first == 0xf4 && byte(at + 1) >= 0x90);
  return too_long || no_letter ? 0 : n;
}

// A name as text between tags: whatever a user calls a layer, it stays a name.
std::string escaped(std::string_view s) {
  std::string out;
  for (std::size_t i = 0; i < s.size();) {
    const std::size_t n = letter_length(s, i);
    const char c = s[i];
    if (n == 0)
      out += "\xef\xbf\xbd";
    else if (c == '&')
      out += "&amp;";
    else if (c == '<')
      out += "&lt;";
    else if (c == '>')
      out += "&gt;";
    else if (c == '"')
      out += "&quot;";
    else if (n == 1 && (static_cast<unsigned char>(c) < 0x20 || c == 0x7f))
      out += ' ';
    else
      out += s.substr(i, n);
    i += std::max<std::size_t>(n, 1);
  }
  return out;
}

std::string small(const Family& f, const std::string& text) {
  return format("<FONT POINT-SIZE=\"9\" COLOR=\"{}\">{}</FONT>", f.line, text);
}

// ---- what a box says
class Drawing {
 public:
  explicit Drawing(const PlotModelOptions& o) : options_(o) {}

  std::string draw(ModelImpl& model) {
    const PlotModelOptions& o = options_;
    text_ = format(
        "digraph model {{\n"
        "  graph [rankdir={}, dpi={}, bgcolor=white, pad=0.2, nodesep=0.3, ranksep=0.35, "
        "fontname=\"Helvetica,Arial,sans-serif\", fontsize=11, fontcolor=\"#374151\"];\n"
        "  node [shape=box, style=\"rounded,filled\", penwidth=1.2, margin=\"0.14,0.07\", "
        "height=0.3, fontname=\"Helvetica,Arial,sans-serif\", fontsize=11, "
        "fontcolor=\"#111827\"];\n"
        "  edge [color=\"#8b95a5\", penwidth=1.2, arrowsize=0.7];\n",
        o.rankdir, o.dpi);
    if (!expandable(model)) {
      // Nothing is known of what happens inside.
      box(model, {}, "  ");
    } else {
      const Range range = range_of(model);
      layers(model, range, "  ");
      edges(model);
    }
    return text_ + "}\n";
  }

 private:
  using Range = std::set<const LayerImpl*>;  // empty: all
  using Nodes = std::vector<const KerasNode*>;

  static bool expandable(const ModelImpl& m) {
    return has_graph(m) && !const_cast<ModelImpl&>(m).inputs().empty();
  }
  bool expanded(const LayerImpl& l) const {
    return options_.expand_nested && l.is_model() && expandable(static_cast<const ModelImpl&>(l));
  }

  // The calls of a model, inputs first.
  static std::vector<Ref<KerasNode>> calls_of(ModelImpl& m) {
    std::vector<Ref<KerasNode>> list;
    for (const Tensor& t : m.inputs())
      if (const Ref<KerasNode>& n = keras_symbol(t)->node;
          std::find(list.begin(), list.end(), n) == list.end())
        list.push_back(n);
    for (const Ref<KerasNode>& n : nodes_between(m.inputs(), m.outputs())) list.push_back(n);
    return list;
  }
  // The layers of a model, each with its calls, in the order of the first.
  static std::vector<std::pair<LayerImpl*, Nodes>> layers_of(ModelImpl& m) {
    std::vector<std::pair<LayerImpl*, Nodes>> list;
    for (const Ref<KerasNode>& n : calls_of(m)) {
      auto at = std::find_if(list.begin(), list.end(),
                             [&](const auto& l) { return l.first == n->layer.get(); });
      if (at == list.end()) at = list.insert(at, {n->layer.get(), Nodes{}});
      at->second.push_back(n.get());
    }
    return list;
  }

  Range range_of(ModelImpl& m) const {
    const std::vector<std::string>& range = options_.layer_range;
    if (range.empty()) return {};
    RILL_CHECK(range.size() == 2, invalid_argument,
               "[plot_model] layer_range has {} entries; expected the names of the first and the "
               "last layer to draw",
               range.size());
    const auto list = layers_of(m);
    const auto place = [&](const std::string& pattern, bool last) {
      RE2::Options quiet;
      quiet.set_log_errors(false);
      const RE2 compiled(pattern, quiet);
      RILL_CHECK(compiled.ok(), invalid_argument,
                 "[plot_model] layer_range: \"{}\" is not a regular expression: {}", pattern,
                 compiled.error());
      std::size_t found = list.size();
      for (std::size_t i = 0; i < list.size(); ++i) {
        const std::string& name = list[i].first->name();
        if (compiled.Match(name, 0, name.size(), RE2::ANCHOR_START, nullptr, 0) &&
            (last || found == list.size()))
          found = i;
      }
      RILL_CHECK(found < list.size(), invalid_argument,
                 "[plot_model] layer_range: no layer's name matches \"{}\"", pattern);
      return found;
    };
    std::size_t from = place(range[0], false), to = place(range[1], true);
    if (from > to) std::swap(from, to);
    Range wanted;
    for (std::size_t i = from; i <= to; ++i) wanted.insert(list[i].first);
    return wanted;
  }

  static std::string tensors_text(const std::vector<ValueSpec>& specs, bool shapes, bool dtypes) {
    std::string s;
    for (const ValueSpec& v : specs) {
      if (!s.empty()) s += "<BR ALIGN=\"LEFT\"/>";
      if (shapes) s += v.shape.to_string();
      if (dtypes) s += (shapes ? " " : "") + escaped(v.dtype.name());
    }
    return s;
  }
  // Inputs or outputs; of calls that differ, those of each.
  std::string tensors_of(const Nodes& calls, bool inputs) const {
    std::vector<std::string> different;
    for (const KerasNode* n : calls) {
      std::vector<ValueSpec> specs;
      if (inputs)
        for (const Tensor& t : n->inputs.flatten()) specs.push_back({t.dtype(), t.shape()});
      else
        specs = n->specs;
      const std::string s = tensors_text(specs, options_.show_shapes, options_.show_dtype);
      if (!s.empty() && std::find(different.begin(), different.end(), s) == different.end())
        different.push_back(s);
    }
    std::string all;
    for (const std::string& s : different) all += (all.empty() ? "" : "<BR ALIGN=\"LEFT\"/>") + s;
    return all;
  }

  // "Bidirectional(LSTM)", and the activation when it is asked for.
  std::string kind_of(LayerImpl& l, const Nodes& calls) const {
    std::string kind = escaped(l.shown_class());
    if (l.is_model()) return kind;
    const bool wrapper = l.class_name() == "Bidirectional" || l.class_name() == "TimeDistributed";
    if (!wrapper && !options_.show_layer_activations) return kind;
    Config c = calls.empty() ? Config() : calls[0]->config;
    if (c.is_null()) c = LayerHandle(share(l)).get_config();
    if (wrapper) {
      const Config& inner = c.get("layer");
      if (inner.is_dict() && inner.get("class_name").is_text())
        kind += "(" + escaped(inner["class_name"].as_string()) + ")";
    }
    const Config& activation = c.get("activation");
    if (options_.show_layer_activations && activation.is_text() &&
        activation.as_string() != "linear")
      kind += " \xc2\xb7 " + escaped(activation.as_string());
    return kind;
  }

  void box(LayerImpl& l, const Nodes& calls, const std::string& indent) {
    const Family f = family_of(l);
    const std::string kind = kind_of(l, calls);
    std::vector<std::string> head;
    if (options_.show_layer_names) {
      head.push_back("<B>" + escaped(l.name()) + "</B>");
      head.push_back(small(f, kind));
    } else {
      head.push_back("<B>" + kind + "</B>");
    }
    if (options_.show_trainable && !l.weights(LayerImpl::Which::all).empty())
      head.push_back(small(f, l.trainable ? "trainable" : "frozen"));
    std::string rows;
    for (const std::string& h : head) rows += "<TR><TD>" + h + "</TD></TR>";
    if (options_.show_shapes || options_.show_dtype) {
      std::string tensors;
      for (const bool inputs : {true, false})
        if (const std::string text = tensors_of(calls, inputs); !text.empty())
          tensors += format(
              "<TR><TD ALIGN=\"LEFT\" VALIGN=\"TOP\">{}</TD><TD ALIGN=\"LEFT\" BALIGN=\"LEFT\">"
              "<FONT POINT-SIZE=\"9\">{}</FONT></TD></TR>",
              small(f, inputs ? "in" : "out"), text);
      // A table of its own, so that a long name does not draw its columns apart.
      if (!tensors.empty())
        rows +=
            "<HR/><TR><TD CELLPADDING=\"4\"><TABLE BORDER=\"0\" CELLSPACING=\"2\" "
            "CELLPADDING=\"0\">" +
            tensors + "</TABLE></TD></TR>";
    }
    text_ += format(
        "{}{} [fillcolor=\"{}\", color=\"{}\", label=<<TABLE BORDER=\"0\" CELLBORDER=\"0\" "
        "CELLSPACING=\"0\" CELLPADDING=\"2\" COLOR=\"{}55\">{}</TABLE>>];\n",
        indent, id_of(l), f.fill, f.line, f.line, rows);
  }

  void layers(ModelImpl& m, const Range& range, const std::string& indent) {
    for (const auto& [layer, calls] : layers_of(m)) {
      if (!range.empty() && !range.count(layer)) continue;
      if (!drawn_.insert(layer).second) continue;
      if (!expanded(*layer)) {
        box(*layer, calls, indent);
        continue;
      }
      text_ += format(
          "{}subgraph cluster_{} {{\n{}  style=\"rounded,filled\"; fillcolor=\"#fafbfc\"; "
          "color=\"#c3cad5\"; labeljust=l; margin=14; label=<{}>;\n",
          indent, id_of(*layer), indent,
          options_.show_layer_names ? "<B>" + escaped(layer->name()) + "</B> " +
                                          small(kModel, escaped(layer->shown_class()))
                                    : "<B>" + escaped(layer->shown_class()) + "</B>");
      layers(static_cast<ModelImpl&>(*layer), {}, indent + "  ");
      text_ += indent + "}\n";
    }
  }

  // The box that a tensor comes from: of a model that is drawn open, the one inside.
  const LayerImpl& source_of(const KerasSymbol& s) const {
    LayerImpl& l = *s.node->layer;
    if (!expanded(l)) return l;
    const std::vector<Tensor> inner = static_cast<ModelImpl&>(l).outputs();
    const auto i = static_cast<std::size_t>(s.index);
    RILL_INTERNAL_CHECK(i < inner.size());
    return source_of(*keras_symbol(inner[i]));
  }

  void edges(ModelImpl& m) {
    for (const Ref<KerasNode>& n : calls_of(m)) {
      LayerImpl& to = *n->layer;
      if (!drawn_.count(&to)) continue;
      const std::vector<Tensor> inside =
          expanded(to) ? static_cast<ModelImpl&>(to).inputs() : std::vector<Tensor>();
      std::size_t i = 0;
      for (const Tensor& t : n->leaves()) {
        const std::size_t at = i++;
        const KerasSymbol* s = keras_symbol(t);
        if (!s || !drawn_.count(s->node->layer.get())) continue;
        const LayerImpl& end = at < inside.size() ? *keras_symbol(inside[at])->node->layer : to;
        const std::string edge = id_of(source_of(*s)) + " -> " + id_of(end);
        if (edges_.insert(edge).second) text_ += "  " + edge + ";\n";
      }
      if (expanded(to) && opened_.insert(&to).second) edges(static_cast<ModelImpl&>(to));
    }
  }

  std::string id_of(const LayerImpl& l) {
    return "n" + std::to_string(ids_.emplace(&l, ids_.size()).first->second);
  }

  const PlotModelOptions& options_;
  std::string text_;
  std::map<const LayerImpl*, std::size_t> ids_;
  std::set<const LayerImpl*> drawn_, opened_;
  std::set<std::string> edges_;
};

}  // namespace

std::string model_to_dot(const Model& model, const PlotModelOptions& options) {
  ModelImpl& m = model.model_impl();
  LayerObjects::introduce(model);
  RILL_CHECK(options.rankdir == "TB" || options.rankdir == "LR" || options.rankdir == "BT" ||
                 options.rankdir == "RL",
             invalid_argument,
             "[plot_model] rankdir is \"{}\"; expected \"TB\", \"LR\", \"BT\" or \"RL\"",
             options.rankdir);
  RILL_CHECK(options.dpi >= 1 && options.dpi <= 2400, invalid_argument,
             "[plot_model] dpi is {}; expected 1 to 2400", options.dpi);
  RILL_CHECK(
      m.built || !m.weights(LayerImpl::Which::all).empty(), failed_precondition,
      "[plot_model] the model \"{}\" has not yet been built. Build it first by build_model() "
      "or by calling it on a batch of data",
      m.name());
  return Drawing(options).draw(m);
}

}  // namespace rill::keras::utils
