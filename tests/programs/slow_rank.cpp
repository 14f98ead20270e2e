// SPDX-License-Identifier: BSD-3-Clause
// To be preloaded into all ranks: rank SLOW_RANK works so many times as long, SLOWNESS, as if its processor were slow.
// A timer takes time of the processor away in slices, whatever it works on, but for when it waits for others.
#include <mpi.h>
#include <signal.h>  // NOLINT(modernize-deprecated-headers): sigaction and timers
#include <sys/syscall.h>
#include <time.h>  // NOLINT(modernize-deprecated-headers): timer_create
#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <string>

namespace {

constexpr long slice = 500000;  ///< [ns], after which (SLOWNESS - 1) times what was worked in it is taken away

double slowness = 1.0;
std::atomic<bool> waits = false;
std::atomic<long long> waited = 0;  ///< [ns] of the processor, as the next
long long until = 0;                ///< what has been worked until then has been paid for
timer_t alarm_clock;

/// Not the wall's clock: of other programs on this processor nothing is known here.
long long now() {
  timespec t{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return 1000000000LL * t.tv_sec + t.tv_nsec;
}

void wind_up() {
  itimerspec once{};
  once.it_value.tv_nsec = slice;
  timer_settime(alarm_clock, 0, &once, nullptr);
}

void take_time(int) {
  if (!waits) {
    const long long begin = now();
    const double worked = static_cast<double>(begin - waited - until);
    const long long end = begin + static_cast<long long>((slowness - 1.0) * worked);
    while (now() < end) {
    }
    until = now() - waited;
  }
  wind_up();
}

/// The thread that is here, which is the one that works.
void start() {
  const char *rank = std::getenv("OMPI_COMM_WORLD_RANK"), *slow = std::getenv("SLOW_RANK"),
             *times = std::getenv("SLOWNESS");
  if (rank == nullptr || slow == nullptr || times == nullptr || std::string(rank) != slow) return;
  slowness = std::atof(times);
  if (!(slowness > 1.0)) return;
  struct sigaction action {};
  action.sa_handler = take_time;
  action.sa_flags = SA_RESTART;
  sigaction(SIGRTMIN, &action, nullptr);
  sigevent event{};
  event.sigev_notify = SIGEV_THREAD_ID;
  event.sigev_signo = SIGRTMIN;
  event._sigev_un._tid = static_cast<pid_t>(syscall(SYS_gettid));
  timer_create(CLOCK_MONOTONIC, &event, &alarm_clock);
  until = now();
  wind_up();
}

/// While it lives, no time is taken away.
class Waiting {
 public:
  Waiting() {
    waits = true;
    begin_ = now();
  }
  Waiting(const Waiting&) = delete;
  Waiting& operator=(const Waiting&) = delete;
  ~Waiting() {
    waited += now() - begin_;
    waits = false;
  }

 private:
  long long begin_ = 0;
};

}  // namespace

extern "C" {
int MPI_Init_thread(int* argc, char*** argv, int required, int* provided) {
  const int result = PMPI_Init_thread(argc, argv, required, provided);
  start();
  return result;
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
