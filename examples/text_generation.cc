// shows: P58 P59 A14 D73
// Text in the style of Nietzsche: an LSTM cell reads 40 characters one by one and tells the next.
//   text_generation [batches]     the guide's own run has 1000
#include <algorithm>
#include <fstream>
#include <map>
#include <set>

#include "example.h"
namespace tf = rill;
namespace keras = tf::keras;
namespace np = tf::np;

using tf::Tensor;

// The text as numbers of its characters.
struct DataLoader {
  std::vector<char> chars;
  std::vector<std::int64_t> text;
  explicit DataLoader(std::string raw_text) {
    for (char& c : raw_text) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    const std::set<char> kinds(raw_text.begin(), raw_text.end());
    chars.assign(kinds.begin(), kinds.end());
    std::map<char, std::int64_t> char_indices;
    for (std::size_t i = 0; i < chars.size(); ++i)
      char_indices[chars[i]] = static_cast<std::int64_t>(i);
    for (const char c : raw_text) text.push_back(char_indices[c]);
  }
  // [batch_size, seq_length], [batch_size]
  std::pair<Tensor, Tensor> get_batch(int seq_length, int batch_size) const {
    std::vector<std::int64_t> seq, next_char;
    const Tensor index = tf::random::uniform(
        {batch_size}, 0, static_cast<int>(text.size()) - seq_length, {.dtype = tf::int32});
    for (const int i : index.to_vector<int>()) {
      seq.insert(seq.end(), text.begin() + i, text.begin() + i + seq_length);
      next_char.push_back(text[static_cast<std::size_t>(i + seq_length)]);
    }
    return {tf::reshape(tf::constant(seq), {batch_size, seq_length}), tf::constant(next_char)};
  }
};

struct RNN : keras::Model {
  int num_chars, seq_length;
  keras::layers::LSTMCell cell{{.units = 256}};
  keras::layers::Dense dense;
  RNN(int num_chars, int seq_length)
      : num_chars(num_chars), seq_length(seq_length), dense(num_chars) {
    track("cell", cell);
    track("dense", dense);
  }
  // Called with the argument from_logits it gives what softmax makes probabilities of.
  Tensor call(const Tensor& ids, const keras::CallContext& context) override {
    const Tensor inputs = tf::one_hot(ids, num_chars);
    // The guide fixes the batch at 50, and then cannot ask for one sample: here it is the input's.
    auto state = cell.get_initial_state({.inputs = inputs});
    Tensor output;
    for (int t = 0; t < seq_length; ++t)
      std::tie(output, state) = cell(inputs(tf::all, t, tf::all), state);
    const Tensor logits = dense(output);
    return context.arguments.get("from_logits", false) ? logits : tf::nn::softmax(logits);
  }
  // Characters drawn by their probabilities, one for each row of the inputs; a low temperature
  // keeps to the likeliest. It stands for the predict of all models.
  Tensor predict(const Tensor& inputs, double temperature = 1.) {
    const Tensor logits = logits_of(inputs);
    const Tensor prob = tf::nn::softmax(logits / temperature);
    std::vector<std::int64_t> drawn;
    for (const Tensor& p : prob)
      drawn.push_back(np::random::choice(num_chars, {.p = p}).item<int>());
    return tf::constant(drawn);
  }

 private:
  tf::Function<Tensor, Tensor> logits_of = tf::function([this](Tensor inputs) {
    return (*this)(inputs, {.arguments = keras::Config::dict({{"from_logits", true}})});
  });
};

int main(int argc, char** argv) {
  const bool quick = std::getenv("RILL_QUICK") != nullptr;
  const int num_batches = argc > 1 ? std::atoi(argv[1]) : quick ? 6 : 1000;
  const int seq_length = 40, batch_size = 50;
  const double learning_rate = 1e-3;
  keras::utils::set_random_seed(1);
  std::string raw_text;
  if (const char* folder = std::getenv("RILL_DATA_DIR")) {
    std::ifstream file(std::string(folder) + "/text/nietzsche.txt");
    raw_text.assign(std::istreambuf_iterator<char>(file), {});
  }
  if (raw_text.empty())  // without the book: a text that is soon learnt
    for (int i = 0; i < 200; ++i) raw_text += "all things are subject to interpretation. ";
  const DataLoader data_loader(raw_text);
  const int num_chars = static_cast<int>(data_loader.chars.size());
  expect(std::is_sorted(data_loader.chars.begin(), data_loader.chars.end()) &&
             std::count_if(data_loader.chars.begin(), data_loader.chars.end(),
                           [](char c) { return c >= 'A' && c <= 'Z'; }) == 0,
         "each character once, in order, none of them a capital");
  const auto [some_X, some_y] = data_loader.get_batch(seq_length, batch_size);
  expect(some_X.shape() == tf::TensorShape({batch_size, seq_length}) &&
             some_y.shape() == tf::TensorShape({batch_size}),
         "windows of the text, and what comes next");
  RNN model(num_chars, seq_length);
  keras::optimizers::Adam optimizer({.learning_rate = learning_rate});

  auto train_step = tf::function([&](const Tensor& X, const Tensor& y) {
    tf::GradientTape tape;
    const auto y_pred = model(X);
    const auto loss = tf::reduce_mean(keras::losses::sparse_categorical_crossentropy(y, y_pred));
    optimizer.apply_gradients(tape.gradient(loss, model.variables()), model.variables());
    return loss;
  });
  float first = 0, last = 0;  // means of twenty batches
  const int some = std::min(20, num_batches / 2);
  for (int batch_index = 0; batch_index < num_batches; ++batch_index) {
    const auto [X, y] = data_loader.get_batch(seq_length, batch_size);
    const float loss = train_step(X, y).item<float>();
    if (batch_index < some) first += loss / static_cast<float>(some);
    if (batch_index >= num_batches - some) last += loss / static_cast<float>(some);
    if (batch_index % (num_batches / 5) == 0)
      std::cout << tf::format("batch {}: loss {:.6f}\n", batch_index, loss);
  }
  std::cout << tf::format("loss from {:.4f} to {:.4f}\n", first, last);
  // A guess by the frequency of letters alone costs about 2.9.
  expect(quick || last < std::min(2.4f, first), "the loss falls");

  const auto [X_, ignored] = data_loader.get_batch(seq_length, 1);
  std::vector<std::size_t> kinds;
  for (const double diversity : {0.2, 0.5, 1.0, 1.2}) {
    Tensor X = X_;
    std::cout << tf::format("diversity {:.6f}:\n", diversity);
    std::set<std::int64_t> seen;
    for (int t = 0; t < (quick ? 5 : 400); ++t) {
      const Tensor y_pred = model.predict(X, diversity);
      const auto c = y_pred[0].item<std::int64_t>();
      seen.insert(c);
      std::cout << data_loader.chars[static_cast<std::size_t>(c)];
      X = tf::concat({X(tf::all, tf::slice(1, tf::None)), tf::expand_dims(y_pred, 1)}, -1);
    }
    kinds.push_back(seen.size());
    std::cout << "\n\n";
  }
  expect(quick || kinds[0] < kinds[3], "a higher temperature draws more kinds of characters");
}
