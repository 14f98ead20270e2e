// SPDX-License-Identifier: BSD-3-Clause
#include "geometry_import/read/converted_image.hpp"

#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <thread>

#include "base/comm/fail_together.hpp"
#include "base/core/error.hpp"
#include "base/file/child.hpp"
#include "base/file/plain_file.hpp"
#include "base/file/program_path.hpp"
#include "geometry_import/read/file_kind.hpp"
#include "geometry_import/read/image_file.hpp"
#include "geometry_import/read/image_text.hpp"

namespace karst {
namespace {

namespace fs = std::filesystem;

/// Starts the reader: the first argument is the folder with the package that belongs to this program.
constexpr const char* start_reader =
    "import sys; sys.path = [sys.argv.pop(1)] + [p for p in sys.path if p]\n"
    "from karst.formats.__main__ import main; sys.exit(main())";

/// Where the package lies in a clone of the project, seen from the program in build/release.
std::string package_of_clone() { return (program_path().parent_path() / "../../python").lexically_normal().string(); }

/// Of all formats together, so that none is asked for after the other.
constexpr const char* needed_packages = "numpy h5py scipy pydicom zarr netCDF4 zstandard";

/// The last line that begins with "error: ", or what Python says in place of it.
std::string message_in(const std::string& output, const std::string& image, int status) {
  const std::size_t at = output.rfind("error: ");
  if (at != std::string::npos && (at == 0 || output[at - 1] == '\n'))
    return std::string(trimmed(std::string_view(output).substr(at + 7)));
  const std::size_t missing = output.rfind("No module named '");
  if (missing != std::string::npos) {
    const std::string name = output.substr(missing + 17, output.find('\'', missing + 17) - missing - 17);
    const char* const needed =
        name.starts_with("karst") ? "./python[formats] in a clone of the project" : needed_packages;
    return fmt::format(
        "{}: {} has no package {}, with which it is read: {} -m pip install {}; or set KARST_PYTHON to an interpreter "
        "that has them",
        image, python_program(), name, python_program(), needed);
  }
  const std::string_view text = trimmed(output);
  const std::string last(text.substr(text.rfind('\n') + 1));
  return status > 128 ? fmt::format(
                            "{}: its reader in Python was ended by signal {}: the image is damaged, or does "
                            "not fit into memory",
                            image, status - 128)
                      : fmt::format("{}: its reader in Python failed: {}", image, last);
}

int wait_for(Child& child) {
  while (true) {
    if (const std::optional<int> status = child.status()) return *status;
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
}

}  // namespace

ConvertedImage::ConvertedImage(const Comm& comm, const std::string& image, const std::string& beside, bool as_raw)
    : image_(image), file_(image) {
  fail_together(comm, [&] {
    if (comm.rank() != 0) return;
    const std::optional<FileKind> kind = kind_of_file(split_array(image).first);
    if (kind && kind->by_python && !(as_raw && kind->as_raw == AsRaw::behind_header)) convert(kind->name, beside);
  });
  comm.broadcast(file_, 0);
  comm.broadcast(note_, 0);
}

ConvertedImage::Folder::~Folder() {
  std::error_code ignored;
  if (!path.empty()) fs::remove_all(path, ignored);
}

std::string ConvertedImage::about_image(std::string message) const {
  if (file_ == image_) return message;
  for (std::size_t at = 0; (at = message.find(file_, at)) != std::string::npos; at += image_.size())
    message.replace(at, file_.size(), image_);
  return message;
}

void ConvertedImage::convert(const std::string& kind, const std::string& beside) {
  std::string folder = beside + ".tmp.XXXXXX";
  require(::mkdtemp(folder.data()) != nullptr, "{}: cannot be written: {}", beside, std::strerror(errno));
  folder_.path = folder;
  const fs::path name = fs::path(split_array(image_).first).filename();
  const bool compressed = kind.starts_with("compressed");
  // What it holds is recognised by its first bytes, or by its name without .bz2.
  const std::string file =
      (fs::path(folder) / (compressed && name.has_stem() ? name.stem() : fs::path("image.h5"))).string();
  const std::string output = (fs::path(folder) / ".output").string();
  folder_.on_signals.add(folder);
  folder_.on_signals.add(output);
  folder_.on_signals.add(file);
  Child child({python_program(), "-c", start_reader, package_of_clone(), image_, "-o", file}, output);
  const int status = wait_for(child);
  if (status != 0) throw Error(message_in(plain_text(output).value_or(""), image_, status));
  note_ = fmt::format("{}: {} by its first bytes; read by Python (karst.formats)", image_, kind);
  file_ = file;
}

}  // namespace karst
