// SPDX-License-Identifier: BSD-3-Clause
// Requests to end a run: by a signal (Ctrl-C, a batch system) or by a time limit.
#pragma once

#include <string>
#include <string_view>

#include "base/comm/comm.hpp"

namespace karst {

/// Thrown on every rank: the run is to end now, in order. Not an Error: nothing is wrong with it.
struct EarlyEnd {
  int status;          ///< of the program: 128 + number of the signal, or time_limit_status
  std::string reason;  ///< "interrupted by SIGTERM"
};
inline constexpr int time_limit_status = 124;  ///< that of timeout(1)

/// During its lifetime, SIGINT, SIGTERM, SIGHUP and SIGUSR1 do not end the process but make end_if_asked() throw. A
/// second signal half a second later or more ends it at once, as all do outside of the lifetime
/// (remove_temporary_files_on_signals). Only one object may exist at a time.
class OrderlyEnd {
 public:
  /// @param seconds  from now to the time limit; 0: none
  /// @param answer   to the first signal, on rank 0; its characters must outlive this object
  OrderlyEnd(const Comm& comm, double seconds, std::string_view answer = "stopping cleanly after this iteration");
  OrderlyEnd(const OrderlyEnd&) = delete;
  OrderlyEnd& operator=(const OrderlyEnd&) = delete;
  ~OrderlyEnd();
};

/// Throws EarlyEnd on all ranks if any of them received a request to end since the construction of the current
/// OrderlyEnd; never throws without one. Cheap: a reduction of one number. Collective.
void end_if_asked(const Comm& comm);

}  // namespace karst
