// SPDX-License-Identifier: BSD-3-Clause
#include "base/file/run_guarded.hpp"

#include <dlfcn.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <functional>
#include <new>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "base/comm/mpi_plugins.hpp"
#include "base/core/error.hpp"
#include "base/core/heap.hpp"
#include "base/core/text.hpp"
#include "base/file/atomic_file.hpp"
#include "base/file/program_path.hpp"

namespace karst {

namespace {

constexpr double patience = 2.0;        // a failed rank waits so long for the others [s]
constexpr std::size_t most_kinds = 16;  // different messages printed

struct Outcome {
  int code = 0;
  std::string message;  // empty: nothing to say
};

Outcome outcome_of(const std::function<void(const Comm&)>& body) {
  try {
    body(Comm::world());
    return {};
  } catch (const ExitStatus& e) {
    return {e.code, ""};
  } catch (const Error& e) {
    return {1, e.what()};
  } catch (const std::bad_alloc&) {
    return {1, "out of memory: the system refused an allocation. Use more ranks on more nodes, or fewer cells"};
  } catch (const std::exception& e) {
    return {1, fmt::format("unexpected failure: {}. This is a bug: please report it with the deck", e.what())};
  } catch (...) {
    return {1, "unexpected failure of unknown kind. This is a bug: please report it with the deck"};
  }
}

void print(const std::string& who, const std::string& message) {
  std::fflush(stdout);
  const bool many_lines = message.find('\n') != std::string::npos;
  const std::string text = fmt::format("{}error:{}{}\n", who, many_lines ? "\n" : " ", message);
  std::fwrite(text.data(), 1, text.size(), stderr);
  std::fflush(stderr);
}

/// "rank 3: ", "ranks 0, 2-9: "
std::string name_ranks(const std::vector<int>& ranks) {
  std::vector<std::string> runs;
  for (std::size_t begin = 0, end = 0; begin < ranks.size(); begin = end) {
    end = begin + 1;
    while (end < ranks.size() && ranks[end] == ranks[end - 1] + 1) ++end;
    runs.push_back(end - begin == 1 ? fmt::format("{}", ranks[begin])
                                    : fmt::format("{}-{}", ranks[begin], ranks[end - 1]));
  }
  return fmt::format("rank{} {}: ", ranks.size() == 1 ? "" : "s", join(runs));
}

/// Prints each different message once, on rank 0. Collective; all ranks have come here.
void print_together(const Comm& comm, const std::string& message) {
  const std::size_t mine = message.empty() ? 0 : std::max<std::size_t>(1, std::hash<std::string>{}(message));
  const std::vector<std::size_t> all = comm.all_gather(std::span(&mine, 1));
  std::vector<std::size_t> kinds;
  for (const std::size_t h : all) {
    if (h != 0 && std::find(kinds.begin(), kinds.end(), h) == kinds.end()) kinds.push_back(h);
  }
  for (std::size_t k = 0; k < std::min(kinds.size(), most_kinds); ++k) {
    std::vector<int> ranks;
    for (int r = 0; r < comm.size(); ++r) {
      if (all[r] == kinds[k]) ranks.push_back(r);
    }
    std::string text = message;
    comm.broadcast(text, ranks.front());
    const bool everywhere = static_cast<int>(ranks.size()) == comm.size();
    if (comm.rank() == 0) print(everywhere ? "" : name_ranks(ranks), text);
  }
  if (kinds.size() > most_kinds && comm.rank() == 0) {
    print("", fmt::format("{} further messages of other ranks are not shown", kinds.size() - most_kinds));
  }
}

/// Waits for all ranks; a failed rank gives up after its patience. Returns whether all have come.
/// @param[out] code  the largest exit status of the ranks
bool meet(MPI_Comm comm, int& code) {
  using SteadyClock = std::chrono::steady_clock;
  const bool failed = code != 0;
  const auto start = SteadyClock::now();
  MPI_Request request = MPI_REQUEST_NULL;
  int largest = code, all_here = 0;
  MPI_Iallreduce(&code, &largest, 1, MPI_INT, MPI_MAX, comm, &request);
  for (;;) {
    MPI_Test(&request, &all_here, MPI_STATUS_IGNORE);
    if (all_here) {
      code = largest;
      return true;
    }
    const double waited = std::chrono::duration<double>(SteadyClock::now() - start).count();
    if (failed && waited > patience) return false;
    if (waited > 1e-3) std::this_thread::sleep_for(std::chrono::milliseconds(waited < 0.1 ? 1 : 10));
  }
}

/// BLAS threads would compete with ours. OpenBLAS reads the variable when it is loaded, before main, so it is told too.
void keep_blas_to_one_thread() {
  if (std::getenv("OPENBLAS_NUM_THREADS") != nullptr) return;
  setenv("OPENBLAS_NUM_THREADS", "1", 0);
  if (void* set = dlsym(RTLD_DEFAULT, "openblas_set_num_threads")) reinterpret_cast<void (*)(int)>(set)(1);
}

/// Started by mpirun, or by a batch system that knows MPI.
bool has_launcher() {
  constexpr std::array names{"OMPI_COMM_WORLD_SIZE", "PMIX_RANK", "PMI_RANK", "PMI_SIZE"};
  return std::ranges::any_of(names, [](const char* name) { return std::getenv(name) != nullptr; });
}

/// As the launcher says: mpirun of Open MPI, or one that knows PMI.
int launched_ranks() {
  for (const char* name : {"OMPI_COMM_WORLD_SIZE", "PMI_SIZE"})
    if (const char* size = std::getenv(name)) return std::max(1, std::atoi(size));
  return 1;
}

/// Open MPI that came with the program (the wheel), for one process: it is told where its plugins are, the settings of
/// another Open MPI in /etc are left alone, and it is not to look for the launcher that has left its traces here.
void set_up_own_mpi(const std::filesystem::path& folder) {
  setenv("OPAL_PREFIX", folder.c_str(), 1);
  setenv("OPAL_PKGLIBDIR", (folder / "plugins").c_str(), 1);
  setenv("OPAL_SYSCONFDIR", (folder / "etc").c_str(), 1);
  constexpr std::array launchers{"PMIX_", "PMI_", "OMPI_COMM_", "OMPI_MCA_ess", "OMPI_MCA_pmix", "OMPI_MCA_orte"};
  std::vector<std::string> traces;
  for (char** one = environ; *one != nullptr; ++one) {
    const std::string_view text = *one;
    if (std::ranges::any_of(launchers, [&](const char* start) { return text.starts_with(start); }))
      traces.emplace_back(text.substr(0, text.find('=')));
  }
  for (const std::string& name : traces) unsetenv(name.c_str());
}

/// What Open MPI (4.1) should do otherwise than by default; other MPI libraries do not read it. What the user has set
/// holds.
/// - It looks for networks of clusters by loading their libraries, and those of PSM and PSM2 sleep for 0.1 s when they
///   are loaded: it is told where no such network is.
/// - Without mpirun it starts a daemon, which only programs that start others need, and makes a folder for the session
///   under a name that all single processes of a user share, so that those which start or end together trip over each
///   other's: there is none then.
/// - File pointers shared by ranks, which nobody here uses, come with a file whose name overruns a buffer when the path
///   is longer than 214 characters, in all components but this one.
void set_up_mpi() {
  const auto there = [](const char* path) {
    std::error_code ignored;
    return std::filesystem::exists(path, ignored);
  };
  if (const std::filesystem::path own = own_mpi(); !own.empty()) set_up_own_mpi(own);
  if (!there("/sys/class/infiniband") && !there("/sys/class/cxi")) setenv("OMPI_MCA_pml", "ob1", 0);
  setenv("OMPI_MCA_ess_singleton_isolated", "1", 0);
  if (!has_launcher()) setenv("OMPI_MCA_orte_create_session_dirs", "0", 0);
  setenv("OMPI_MCA_sharedfp", "individual", 0);
}

/// Ranks that were started together and each find themselves alone would write the same files.
void require_one_world(const Comm& comm, int launched) {
  require(comm.size() > 1 || launched == 1, "{} ranks were started, but each finds itself alone: {}", launched,
          own_mpi().empty() ? "this mpirun is not of the MPI library that Karst was built with; use that library's"
                            : "the program of the wheel runs on one rank; use threads (-j N), or build Karst with the "
                              "MPI library of this system (docs/install.md)");
}

/// What the program said on standard output has to have arrived: a full disk shows only here.
Outcome check_standard_output(const Outcome& outcome) {
  errno = 0;
  if (outcome.code != 0 || (std::fflush(stdout) == 0 && std::ferror(stdout) == 0)) return outcome;
  return {1, fmt::format("standard output cannot be written{}; all output files are complete",
                         errno != 0 ? fmt::format(" ({})", std::strerror(errno)) : "")};
}

}  // namespace

int run_guarded(int argc, char** argv, const std::function<void(const Comm&)>& body) {
  const int launched = launched_ranks();
  keep_blas_to_one_thread();
  set_up_mpi();
  int provided = MPI_THREAD_SINGLE;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &provided);
  keep_mpi_plugins_loaded();
  remove_temporary_files_on_signals();
  std::signal(SIGXFSZ, SIG_IGN);  // a file above its limit (ulimit -f) is an error of the write, with a message
  set_up_heap();
  MPI_Comm ours = MPI_COMM_NULL;  // apart from what body may leave unfinished on the world
  MPI_Comm_dup(MPI_COMM_WORLD, &ours);
  Outcome outcome = outcome_of([&](const Comm& comm) {
    require(provided >= MPI_THREAD_FUNNELED,
            "this MPI library does not support threads (MPI_THREAD_FUNNELED); use another one");
    require_one_world(comm, launched);
    body(comm);
  });
  outcome = check_standard_output(outcome);
  int code = outcome.code;
  if (!meet(ours, code)) {
    if (!outcome.message.empty()) print(name_ranks({Comm::world().rank()}), outcome.message);
    MPI_Abort(MPI_COMM_WORLD, code);
    std::_Exit(code);  // MPI_Abort does not come back
  }
  if (code != 0) print_together(Comm(ours), outcome.message);
  MPI_Comm_free(&ours);
  MPI_Finalize();
  return code;
}

}  // namespace karst
