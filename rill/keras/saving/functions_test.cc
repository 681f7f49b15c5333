// Models that Keras wrote, on samples that it chose: tools/keras_functions.py and
// tools/keras_random.py make the folder RILL_KERAS_FUNCTIONS and compare the answers that this
// leaves there with those of Keras.
#include <gtest/gtest.h>

#include <cstdlib>

#include "rill/io/file.h"
#include "rill/keras/saving/saving.h"
#include "rill/ops/array_ops.h"
#include "rill/ops/math_ops.h"

namespace tf = rill;
namespace keras = rill::keras;

namespace {

tf::Tensor sample(const keras::Config& c) {
  std::vector<double> values;
  for (const keras::Config& v : c["values"].items()) values.push_back(v.as_double());
  return tf::constant(values, tf::DType::from_name(c["dtype"].as_string()), c["shape"].as_shape());
}

keras::Config number(double v) {
  return v != v       ? keras::Config("nan")
         : v - v != 0 ? keras::Config(v > 0 ? "inf" : "-inf")
                      : keras::Config(v);
}

tf::Nest samples(const keras::Config& list) {
  std::vector<tf::Tensor> all;
  for (const keras::Config& c : list.items()) all.push_back(sample(c));
  return all.size() == 1 ? tf::Nest(all[0]) : tf::Nest(all);
}

keras::Config values_of(const tf::Nest& y) {
  keras::Config outputs = keras::Config::list();
  for (const tf::Tensor& t : y.flatten()) {
    keras::Config values = keras::Config::list();
    for (const double v : tf::cast(t, tf::float64).to_vector<double>()) values.push_back(number(v));
    outputs.push_back(keras::Config::dict({{"shape", t.shape()}, {"values", values}}));
  }
  return outputs;
}

keras::Config answer(const std::string& folder, const keras::Config& asked) {
  keras::Config out = keras::Config::dict();
  try {
    const std::string file = asked["file"].as_string();
    keras::Model m = keras::models::load_model(folder + "/" + file);
    const tf::Nest inputs = samples(asked["inputs"]);
    out.set("outputs", values_of(m.predict_on_batch(inputs)));
    if (asked.contains("steps")) {
      const tf::Nest labels = samples(asked["labels"]);
      keras::Config losses = keras::Config::list();
      for (int i = 0; i < asked["steps"].as_int(); ++i)
        losses.push_back(number(m.train_on_batch(inputs, labels)["loss"]));
      out.set("losses", losses);
      out.set("after", values_of(m.predict_on_batch(inputs)));
    }
    try {  // and through a file of ours
      const std::string written = file + ".again.keras";
      m.save(folder + "/" + written);
      keras::models::load_model(folder + "/" + written);
      out.set("written", written);
    } catch (const std::exception& e) {
      out.set("not_written", std::string(e.what()));
    }
  } catch (const std::exception& e) {
    out.set("error", std::string(e.what()));
  }
  return out;
}

TEST(KerasFunctions, AnswersForTheOracle) {
  const char* folder = std::getenv("RILL_KERAS_FUNCTIONS");
  if (!folder) GTEST_SKIP() << "tools/keras_functions.py and tools/keras_random.py ask";
  const std::string at = folder;
  const keras::Config asked = keras::Config::from_json(rill::io::file_contents(at + "/cases.json"));
  keras::Config answers = keras::Config::list();
  for (const keras::Config& c : asked.items()) answers.push_back(answer(at, c));
  EXPECT_EQ(answers.size(), asked.size());
  rill::io::write_file_atomically(at + "/answers.json", answers.to_json());
}

}  // namespace
