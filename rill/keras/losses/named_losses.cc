#include "rill/keras/losses/named_losses_impl.h"

#include <algorithm>

#include "rill/keras/registry/registered_functions_impl.h"

namespace rill::keras {

std::span<const NamedLoss> named_losses() {
  using namespace losses;
  static const NamedLoss all[] = {
      {"mean_squared_error", "mse", "MeanSquaredError", mean_squared_error},
      {"mean_squared_error", "MSE", "MeanSquaredError", mse},
      {"mean_absolute_error", "mae", "MeanAbsoluteError", mean_absolute_error},
      {"mean_absolute_error", "MAE", "MeanAbsoluteError", mae},
      {"mean_absolute_percentage_error", "mape", "MeanAbsolutePercentageError",
       mean_absolute_percentage_error},
      {"mean_absolute_percentage_error", "MAPE", "MeanAbsolutePercentageError", mape},
      {"mean_squared_logarithmic_error", "msle", "MeanSquaredLogarithmicError",
       mean_squared_logarithmic_error},
      {"mean_squared_logarithmic_error", "MSLE", "MeanSquaredLogarithmicError", msle},
      {"categorical_crossentropy", "", "CategoricalCrossentropy", categorical_crossentropy},
      {"sparse_categorical_crossentropy", "", "SparseCategoricalCrossentropy",
       sparse_categorical_crossentropy},
      {"binary_crossentropy", "bce", "BinaryCrossentropy", binary_crossentropy},
      {"binary_crossentropy", "BCE", "BinaryCrossentropy", binary_crossentropy},
      {"binary_focal_crossentropy", "", "BinaryFocalCrossentropy", binary_focal_crossentropy},
      {"categorical_focal_crossentropy", "", "CategoricalFocalCrossentropy",
       categorical_focal_crossentropy},
      {"kl_divergence", "kld", "KLDivergence", kl_divergence},
      {"kl_divergence", "kullback_leibler_divergence", "KLDivergence", kld},
      {"kl_divergence", "KLD", "KLDivergence", kld},
      {"hinge", "", "Hinge", hinge},
      {"squared_hinge", "", "SquaredHinge", squared_hinge},
      {"categorical_hinge", "", "CategoricalHinge", categorical_hinge},
      {"huber", "huber_loss", "Huber", huber},
      {"log_cosh", "logcosh", "LogCosh", log_cosh},
      {"poisson", "", "Poisson", poisson},
      {"cosine_similarity", "", "CosineSimilarity", cosine_similarity},
      {"cosine_similarity", "cosine_proximity", "CosineSimilarity", cosine_similarity},
      {"cosine_similarity", "cosine", "CosineSimilarity", cosine_similarity},
      {"dice", "", "Dice", dice},
      {"tversky", "", "Tversky", tversky},
      {"circle", "", "Circle", circle},
  };
  return all;
}

std::vector<std::string> loss_names() {
  std::vector<std::string> names = registered_function_names();
  const auto add = [&](const char* name) {
    if (*name && std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
  };
  for (const NamedLoss& n : named_losses()) add(n.name);
  for (const NamedLoss& n : named_losses()) add(n.alias);
  for (const NamedLoss& n : named_losses()) add(n.class_name);
  return names;
}

}  // namespace rill::keras
