// SPDX-License-Identifier: BSD-3-Clause
// To be preloaded into all ranks: rank SLOW_RANK works so many times as long, SLOWNESS, as if its processor were slow.
// Before it sends anything it spins for as long as it has worked since it last sent, without what it has waited.
#include <mpi.h>

#include <chrono>
#include <cstdlib>
#include <string>

namespace {

using Clock = std::chrono::steady_clock;

double number_of(const char* variable, double otherwise) {
  const char* text = std::getenv(variable);
  return text == nullptr ? otherwise : std::atof(text);
}

bool is_slow() {
  const char* rank = std::getenv("OMPI_COMM_WORLD_RANK");
  const char* slow = std::getenv("SLOW_RANK");
  return rank != nullptr && slow != nullptr && std::string(rank) == slow;
}

const bool slow = is_slow();
const double slowness = number_of("SLOWNESS", 1.0);
Clock::time_point worked_since = Clock::now();

void spin() {
  if (!slow) return;
  const Clock::time_point now = Clock::now();
  const auto end = now + std::chrono::duration_cast<Clock::duration>((slowness - 1.0) * (now - worked_since));
  while (Clock::now() < end) {
  }
  worked_since = Clock::now();
}

/// While it lives, the time is no work.
class Waiting {
 public:
  Waiting() = default;
  Waiting(const Waiting&) = delete;
  Waiting& operator=(const Waiting&) = delete;
  ~Waiting() { worked_since += Clock::now() - begin_; }

 private:
  Clock::time_point begin_ = Clock::now();
};

}  // namespace

extern "C" {
int MPI_Isend(const void* data, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm, MPI_Request* request) {
  spin();
  return PMPI_Isend(data, count, type, to, tag, comm, request);
}
int MPI_Waitany(int count, MPI_Request* requests, int* which, MPI_Status* status) {
  const Waiting waiting;
  return PMPI_Waitany(count, requests, which, status);
}
int MPI_Waitall(int count, MPI_Request* requests, MPI_Status* statuses) {
  const Waiting waiting;
  return PMPI_Waitall(count, requests, statuses);
}
int MPI_Allreduce(const void* from, void* to, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm) {
  const Waiting waiting;
  return PMPI_Allreduce(from, to, count, type, op, comm);
}
}
