// SPDX-License-Identifier: BSD-3-Clause
#include "app/deck/image_deck.hpp"

#include <filesystem>

#include "base/core/error.hpp"
#include "base/deck/deck_echo.hpp"
#include "geometry_import/read/image_file.hpp"

namespace karst {

namespace fs = std::filesystem;

bool stands_for_deck(const std::string& name) { return fs::path(name).extension() != ".toml" && is_image_name(name); }

std::string results_of_image(const std::string& image) {
  fs::path path = fs::path(split_hdf5(image).first).lexically_normal();
  std::error_code ignored;
  if (!path.has_filename()) path = path.parent_path();  // slices/
  const bool pattern = path.filename().string().find_first_of("*?%") != std::string::npos;
  if (pattern) path = fs::absolute(path, ignored).parent_path();
  if (!pattern && !fs::is_directory(path, ignored)) {
    if (path.extension() == ".gz") path.replace_extension();
    path.replace_extension();
  }
  return (fs::path("out") / path.filename()).string();
}

std::vector<std::string> deck_of_image(const std::string& image) {
  require(image_exists(image), "there is no image {}", image);
  return {"geometry.image=" + toml_text(image), "flow.model=\"stokes\"", "flow.drive=\"pressure-drop\"",
          "output.directory=" + toml_text(results_of_image(image))};
}

}  // namespace karst
