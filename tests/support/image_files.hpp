// SPDX-License-Identifier: BSD-3-Clause
// Small image files.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <fstream>
#include <limits>
#include <span>
#include <string>
#include <vector>

#include "base/core/error.hpp"
#include "geometry_import/read/image_file.hpp"
#include "support/errors.hpp"
#include "support/shared_directory.hpp"

namespace karst::test {

/// A test with a folder for its files.
class ImageFolder : public testing::Test {
 protected:
  std::string path(const std::string& name) const { return directory_.path() + "/" + name; }

 private:
  Comm comm_ = Comm::self();
  SharedDirectory directory_{comm_};
};

template <class T>
void write_raw(const std::string& path, const std::vector<T>& values, const std::string& header = "") {
  std::ofstream file(path, std::ios::binary);
  file << header;
  file.write(reinterpret_cast<const char*>(values.data()), static_cast<std::streamsize>(values.size() * sizeof(T)));
}

/// 5 x 4 x 3 values that differ, some negative for signed types.
template <class T>
std::vector<T> sample_values() {
  std::vector<T> v;
  for (int n = 0; n < 60; ++n) v.push_back(static_cast<T>(std::numeric_limits<T>::is_signed ? 2 * n - 60 : 4 * n));
  return v;
}

inline std::vector<float> all_values(ImageFile& image) {
  const Index n = image.info().size;
  std::vector<float> values(static_cast<std::size_t>(n[0]) * static_cast<std::size_t>(n[1]) *
                            static_cast<std::size_t>(n[2]));
  const std::size_t plane = values.size() / static_cast<std::size_t>(n[2]);
  for (int z = n[2] - 1; z >= 0; --z)  // any order
    image.read_plane(z, std::span(values).subspan(static_cast<std::size_t>(z) * plane, plane));
  return values;
}

template <class T>
std::vector<float> as_float(const std::vector<T>& v) {
  std::vector<float> f;
  for (const T x : v) f.push_back(static_cast<float>(x));
  return f;
}

inline std::string bytes_of_file(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

}  // namespace karst::test
