// SPDX-License-Identifier: BSD-3-Clause
#include "geometry_import/prepare/prepare_scratch.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "base/comm/fail_together.hpp"
#include "base/comm/memory.hpp"
#include "base/comm/parallel.hpp"

namespace karst {
namespace {

constexpr int planes_at_once = 16;

/// A file descriptor that closes itself.
class Descriptor {
 public:
  Descriptor(const std::string& path, int flags) : number_(open(path.c_str(), flags | O_CLOEXEC, 0600)) {
    require(number_ >= 0, "{}: scratch file cannot be opened: {}", path, std::strerror(errno));
  }
  Descriptor(Descriptor&& o) noexcept : number_(std::exchange(o.number_, -1)) {}
  Descriptor& operator=(Descriptor&& o) noexcept {
    std::swap(number_, o.number_);
    return *this;
  }
  ~Descriptor() {
    if (number_ >= 0) close(number_);
  }
  int number() const { return number_; }

 private:
  int number_;
};

/// Removes the name, at the latest at the end of a scope.
class Name {
 public:
  explicit Name(std::string path) : path_(std::move(path)) {}
  Name(const Name&) = delete;
  Name& operator=(const Name&) = delete;
  ~Name() { remove(); }
  const std::string& path() const { return path_; }
  void remove() {
    if (!path_.empty()) unlink(path_.c_str());
    path_.clear();
  }

 private:
  std::string path_;
};

/// pread or pwrite of all bytes.
template <class Move, class T>
void move_all(Move&& move, int file, std::span<T> bytes, std::int64_t place, const char* doing) {
  while (!bytes.empty()) {
    errno = 0;
    const ssize_t n = move(file, bytes.data(), bytes.size(), place);
    if (n < 0 && errno == EINTR) continue;
    require(n > 0, "scratch file of the import: {} {} bytes failed: {}", doing, bytes.size(),
            errno != 0 ? std::strerror(errno) : "file too short");
    bytes = bytes.subspan(n);
    place += n;
  }
}

class ScratchImage : public ImageFile {
 public:
  ScratchImage(const ImageInfo& info, Descriptor file) : ImageFile(info), file_(std::move(file)) {}

 private:
  void load_plane(int z, std::span<float> values) override {
    move_all(pread, file_.number(), std::as_writable_bytes(values), z * static_cast<std::int64_t>(values.size_bytes()),
             "reading");
  }
  Descriptor file_;
};

void fill_own_planes(const Comm& comm, const ImageInfo& info, int file, const FillPlanes& fill) {
  const std::int64_t plane = std::int64_t{info.size[0]} * info.size[1];
  const int begin = static_cast<int>(detail::share_begin(info.size[2], comm.rank(), comm.size()));
  const int end = static_cast<int>(detail::share_begin(info.size[2], comm.rank() + 1, comm.size()));
  if (begin == end) return;
  Array<float> values(plane * std::min(planes_at_once, end - begin), Purpose::buffers);
  for (int first = begin; first < end; first += planes_at_once) {
    const int last = std::min(first + planes_at_once, end);
    const auto part = values.span().first(plane * (last - first));
    fill(first, last, part);
    move_all(pwrite, file, std::as_bytes(part), 4 * plane * first, "writing");
  }
}

}  // namespace

std::unique_ptr<ImageFile> kept_in_scratch(const Comm& comm, const ImageInfo& info, const std::string& path,
                                           const FillPlanes& fill) {
  std::string made;
  fail_together(comm, [&] {
    if (comm.rank() != 0) return;
    made = path + ".scratch-XXXXXX";
    const int file = mkstemp(made.data());
    require(file >= 0, "{}: scratch file cannot be created: {}", made, std::strerror(errno));
    close(file);
  });
  Name name(made);
  std::string everywhere = made;
  comm.broadcast(everywhere);
  std::unique_ptr<Descriptor> file;
  fail_together(comm, [&] { file = std::make_unique<Descriptor>(everywhere, O_RDWR); });
  const bool alone = comm.size() == 1;
  if (alone) name.remove();
  fail_together(comm, [&] { fill_own_planes(comm, info, file->number(), fill); });
  if (!alone) {  // written, closed, then opened again: what a network file system needs to show the planes of others
    fail_together(comm, [&] {
      require(fsync(file->number()) == 0, "{}: scratch file: {}", everywhere, std::strerror(errno));
      file.reset();
    });
    fail_together(comm, [&] { file = std::make_unique<Descriptor>(everywhere, O_RDONLY); });
  }
  return std::make_unique<ScratchImage>(info, std::move(*file));
}

}  // namespace karst
