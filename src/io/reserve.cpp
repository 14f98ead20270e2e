// SPDX-License-Identifier: BSD-3-Clause
#include "io/reserve.hpp"

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "base/comm/fail_together.hpp"
#include "base/core/error.hpp"

namespace karst {

namespace {

std::string reason(int code) { return std::strerror(code); }

}  // namespace

Reservation::Reservation(const Comm& comm, const AtomicFile& target) : comm_(comm), path_(target.path()) {
  fail_together(comm_, [&] {
    if (comm_.rank() != 0) return;
    file_ = ::open(target.temporary().c_str(), O_RDWR | O_CLOEXEC);
    require(file_ >= 0, "cannot write {}: {}", path_, reason(errno));
  });
}

Reservation::~Reservation() {
  if (file_ >= 0) ::close(file_);
}

void Reservation::reserve(std::int64_t bytes) {
  fail_together(comm_, [&] {
    if (comm_.rank() == 0) reserve_here(bytes);
  });
}

void Reservation::reserve_here(std::int64_t bytes) const {
  struct stat now {};
  require(::fstat(file_, &now) == 0, "cannot write {}: {}", path_, reason(errno));
  rlimit limit{};
  require(::getrlimit(RLIMIT_FSIZE, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY ||
              static_cast<rlim_t>(now.st_size + bytes) <= limit.rlim_cur,
          "cannot write {}: {} (it may need {} bytes, files of this process may have {}; see ulimit -f)", path_,
          reason(EFBIG), now.st_size + bytes, limit.rlim_cur);
  if (::fallocate(file_, FALLOC_FL_KEEP_SIZE, 0, now.st_size + bytes) == 0) return;
  const int code = errno;
  struct statvfs system {};
  const bool known = ::fstatvfs(file_, &system) == 0;
  const std::int64_t free = known ? static_cast<std::int64_t>(system.f_bavail * system.f_frsize) : 0;
  const bool cannot_reserve = code == EOPNOTSUPP || code == ENOSYS;
  if (cannot_reserve && (!known || bytes <= free)) return;
  throw Error(
      fmt::format("cannot write {}: {} (it may need {} bytes more, {} are free there); make room or write elsewhere",
                  path_, reason(cannot_reserve ? ENOSPC : code), bytes, free));
}

std::int64_t Reservation::finish() {
  std::int64_t size = 0;
  fail_together(comm_, [&] {
    if (comm_.rank() != 0) return;
    struct stat now {};
    const bool done = ::fstat(file_, &now) == 0 && ::ftruncate(file_, now.st_size) == 0;
    require(done, "cannot finish {}: {}", path_, reason(errno));
    size = now.st_size;
  });
  return comm_.max(size);
}

}  // namespace karst
