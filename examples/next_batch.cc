// shows: P82 D74 D75 Z53
// Images and labels that come batch by batch, as the guide's class DataSet gives them: where a
// batch would go beyond the end, the rest is left out and a new epoch begins in another order.
#include <rill/rill.h>

#include <set>

#include "example.h"
namespace tf = rill;
namespace np = tf::np;
using tf::Tensor;

class DataSet {
 public:
  DataSet(Tensor images, Tensor labels, bool fake_data = false)
      : images_(std::move(images)), labels_(std::move(labels)) {
    if (fake_data) {
      num_examples_ = 10000;
      return;
    }
    check(images_.shape().dim(0) == labels_.shape().dim(0),
          tf::format("images.shape: {} labels.shape: {}", images_.shape().to_string(),
                     labels_.shape().to_string()));
    num_examples_ = images_.shape().dim(0);
    // From [examples, rows, columns, depth] to [examples, rows * columns].
    check(images_.shape().dim(3) == 1,
          tf::format("images of depth {}; expected 1", images_.shape().dim(3)));
    images_ =
        np::reshape(images_, {num_examples_, images_.shape().dim(1) * images_.shape().dim(2)});
    images_ = np::multiply(np::astype(images_, tf::float32), 1.f / 255.f);  // 0 .. 255 to 0 .. 1
  }
  std::int64_t num_examples() const { return num_examples_; }
  int epochs_completed() const { return epochs_completed_; }
  const Tensor& images() const { return images_; }

  std::pair<Tensor, Tensor> next_batch(std::int64_t batch_size, bool fake_data = false) {
    if (fake_data) return {tf::ones({batch_size, 784}), tf::zeros({batch_size}, tf::int32)};
    std::int64_t start = index_in_epoch_;
    index_in_epoch_ += batch_size;
    if (index_in_epoch_ > num_examples_) {
      check(batch_size <= num_examples_,
            tf::format("a batch of {} from {} examples", batch_size, num_examples_));
      ++epochs_completed_;
      Tensor perm = np::arange(num_examples_);
      np::random::shuffle(perm);
      images_ = np::take(images_, perm);
      labels_ = np::take(labels_, perm);
      start = 0;
      index_in_epoch_ = batch_size;
    }
    const auto batch = tf::slice(start, index_in_epoch_);
    return {images_(batch), labels_(batch)};
  }

 private:
  static void check(bool ok, const std::string& what) {
    if (!ok) throw tf::errors::InvalidArgument(what);
  }
  Tensor images_, labels_;
  std::int64_t num_examples_ = 0, index_in_epoch_ = 0;
  int epochs_completed_ = 0;
};

template <class F>
void expect_refused(F call, const std::string& text) {
  try {
    call();
    expect(false, "an error: " + text);
  } catch (const tf::errors::InvalidArgument& e) {
    std::cout << e.message() << '\n';
    expect(e.message().find(text) != std::string::npos, text);
  }
}

int main() {
  np::random::seed(1);
  // Ten images, each of one grey, which is its label.
  const Tensor labels = np::arange(10);
  const Tensor images =
      tf::cast(tf::reshape(labels, {10, 1, 1, 1}) * tf::ones({10, 2, 3, 1}, tf::int64), tf::uint8);
  DataSet data(images, labels);
  expect(data.images().shape() == tf::TensorShape({10, 6}), "an image is a row");
  expect(data.images().dtype() == tf::float32, "of floats");

  std::vector<std::vector<std::int64_t>> seen;
  std::vector<int> epochs;
  for (int i = 0; i < 7; ++i) {
    const auto [x, y] = data.next_batch(4);
    seen.push_back(y.to_vector<std::int64_t>());
    epochs.push_back(data.epochs_completed());
    std::cout << tf::format("epoch {}: {}\n", data.epochs_completed(), y.to_string());
    for (int j = 0; j < 4; ++j)  // images stay with their labels
      expect(std::abs(x(j, 5).item<float>() * 255 - static_cast<float>(y[j].item<int>())) < 1e-4f,
             "the image of the label");
  }
  using Labels = std::vector<std::int64_t>;
  expect(seen[0] == Labels{0, 1, 2, 3} && seen[1] == Labels{4, 5, 6, 7}, "the order of the data");
  // Two of the ten are left over, and do not come: two batches an epoch.
  expect(epochs == std::vector<int>{0, 0, 1, 1, 2, 2, 3}, "an epoch is two batches of four");
  std::set<std::int64_t> second(seen[2].begin(), seen[2].end());
  second.insert(seen[3].begin(), seen[3].end());
  expect(second.size() == 8, "no image twice in an epoch");
  expect(seen[2] != seen[0] || seen[3] != seen[1], "another order");

  DataSet fake(Tensor(), Tensor(), true);
  const auto [x, y] = fake.next_batch(5, true);
  expect(fake.num_examples() == 10000 && x.shape() == tf::TensorShape({5, 784}), "fake data");

  expect_refused([&] { DataSet(images, np::arange(9)); },
                 "images.shape: (10, 2, 3, 1) labels.shape: (9,)");
  expect_refused(
      [&] {
        DataSet(tf::ones({10, 2, 3, 3}), labels);
      },
      "images of depth 3; expected 1");
  expect_refused([&] { data.next_batch(11); }, "a batch of 11 from 10 examples");
}
