#pragma once
#include <rill/rill.h>
#include <unistd.h>

#include <cmath>
#include <filesystem>
#include <string>

// Folders of JPEG pictures for programs whose own pictures cannot be had here. What the kinds are
// told apart by is drawn over noise, at chance places and in chance colours: stripes for kind 0,
// rings for 1, a chessboard, a slope and blocks for the others.
inline rill::Tensor made_picture(int kind, int number, std::int64_t height, std::int64_t width) {
  namespace tf = rill;
  const auto chance = [&](int which) {
    return tf::random::stateless_uniform({}, {number, 10 * kind + which}).item<float>();
  };
  const tf::Tensor y = tf::reshape(tf::range(static_cast<float>(height)), {-1, 1}) -
                       chance(0) * static_cast<float>(height),
                   x = tf::range(static_cast<float>(width)) - chance(1) * static_cast<float>(width);
  const float scale = 0.2f + 0.2f * chance(2);
  tf::Tensor pattern;
  if (kind == 0)
    pattern = tf::sin((x + y) * scale);
  else if (kind == 1)
    pattern = tf::sin(tf::sqrt(tf::square(x) + tf::square(y)) * scale);
  else if (kind == 2)
    pattern = tf::sign(tf::sin(x * scale) * tf::sin(y * scale));
  else if (kind == 3)
    pattern = (x + y) / static_cast<float>(height + width);
  else
    pattern = tf::sign(tf::sin(x * scale)) + tf::zeros_like(y);
  const tf::Tensor color = tf::random::stateless_uniform({3}, {number, 10 * kind + 3}, 0.5f, 1.f);
  const tf::Tensor noise =
      tf::random::stateless_uniform({height, width, 3}, {number, 10 * kind + 4}, 0.f, 0.3f);
  const tf::Tensor picture = 0.35f + 0.3f * tf::expand_dims(pattern, -1) * color + noise;
  return tf::image::convert_image_dtype(picture, tf::uint8, true);
}

// An empty folder of this process, since several may run at once.
inline std::string folder_for_pictures(const std::string& name) {
  const std::string folder = (std::filesystem::temp_directory_path() /
                              rill::format("{}_{}", name, static_cast<std::int64_t>(getpid())))
                                 .string();
  if (rill::io::gfile::exists(folder)) rill::io::gfile::rmtree(folder);
  return folder;
}

// FOLDER/000.jpg and so on; numbers from `first`.
inline void write_pictures(const std::string& folder, int kind, int first, int count,
                           std::int64_t height, std::int64_t width) {
  rill::io::gfile::makedirs(folder);
  for (int i = first; i < first + count; ++i)
    rill::io::write_file(rill::format("{}/{:05d}.jpg", folder, i),
                         rill::io::encode_jpeg(made_picture(kind, i, height, width)));
}
