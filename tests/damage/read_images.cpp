// SPDX-License-Identifier: BSD-3-Clause
// What Karst makes of images, a line of JSON each, for scripts that compare it with what others make of them:
// karst-read-images < LIST
// LIST has one path a line. A line says size, type, widths, what is doubted or told, and the check sum (CRC-32) of all
// values as float32, x fastest; or the error with which the image is refused. Each is read in a process that may be
// ended: by a crash, after 5 s, or at 2 GiB.
#include <sys/resource.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>
#include <zlib.h>

#include <array>
#include <csignal>
#include <cstdio>
#include <iostream>
#include <span>
#include <string>
#include <vector>

#include "base/core/error.hpp"
#include "base/file/json.hpp"
#include "geometry_import/read/image_file.hpp"

namespace karst::test {
namespace {

Json facts_of(ImageFile& image) {
  const ImageInfo& info = image.info();
  const Index n = info.size;
  require(double{1} * n[0] * n[1] * n[2] < 1e8, "{}: more voxels than a test has", info.path);
  Json j{{"format", info.format}, {"type", name_of(info.type)}, {"size", n.v}, {"proportions", info.proportions.v}};
  j["spacing"] = nullptr;
  if (info.spacing) j["spacing"] = info.spacing->v;
  j["z_assumed"] = info.z_assumed;
  j["white_is_zero"] = info.black.has_value();
  j["told"] = info.notes;
  for (const std::string& text : {info.width_doubt, info.labels_only, info.voxel_note})
    if (!text.empty()) j["told"].push_back(text);
  std::vector<float> plane(static_cast<std::size_t>(n[0]) * static_cast<std::size_t>(n[1]));
  uLong sum = crc32(0, nullptr, 0);
  for (int z = 0; z < n[2]; ++z) {
    image.read_plane(z, plane);
    sum = crc32(sum, reinterpret_cast<const Bytef*>(plane.data()), static_cast<uInt>(plane.size() * sizeof(float)));
  }
  j["crc"] = static_cast<std::int64_t>(sum);
  return j;
}

Json read(const std::string& path) {
  try {
    return facts_of(*open_image(path));
  } catch (const Error& e) {
    return Json{{"error", e.what()}};
  } catch (const std::bad_alloc&) {
    return Json{{"crash", "memory"}};
  } catch (const std::exception& e) {
    return Json{{"crash", e.what()}};
  }
}

void tell(const std::string& path, Json facts) {
  facts["path"] = path;
  std::printf("%s\n", facts.dump().c_str());
  std::fflush(stdout);
}

/// Reads images from the n-th on, in a process of its own; a byte through `done` for each.
[[noreturn]] void work(const std::vector<std::string>& paths, std::size_t n, int done) {
  const rlimit bytes{std::size_t{2} << 30, std::size_t{2} << 30}, no_core{0, 0};
  setrlimit(RLIMIT_DATA, &bytes);
  setrlimit(RLIMIT_CORE, &no_core);
  for (; n < paths.size(); ++n) {
    const itimerval time{{0, 0}, {5, 0}};
    setitimer(ITIMER_VIRTUAL, &time, nullptr);  // of this process: others may keep the machine busy
    tell(paths[n], read(paths[n]));
    if (::write(done, "+", 1) != 1) break;
  }
  _exit(0);
}

void read_all(const std::vector<std::string>& paths) {
  for (std::size_t n = 0; n < paths.size();) {
    std::array<int, 2> ends{};
    require(pipe(ends.data()) == 0, "no pipe for the readers");
    const pid_t child = fork();
    if (child == 0) work(paths, n, ends[1]);
    close(ends[1]);
    char byte = 0;
    while (::read(ends[0], &byte, 1) == 1) ++n;
    close(ends[0]);
    int status = 0;
    waitpid(child, &status, 0);
    if (WIFEXITED(status) && n >= paths.size()) return;
    const bool late = WIFSIGNALED(status) && WTERMSIG(status) == SIGVTALRM;
    tell(paths[n++], Json{{"crash", late ? "hang" : "signal"}});
  }
}

}  // namespace
}  // namespace karst::test

int main() {
  std::vector<std::string> paths;
  for (std::string line; std::getline(std::cin, line);) paths.push_back(line);
  karst::test::read_all(paths);
}
