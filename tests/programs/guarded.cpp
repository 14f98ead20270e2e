// SPDX-License-Identifier: BSD-3-Clause
// Ends in the way that its argument names; guarded.sh looks at messages, status and time.
#include <chrono>
#include <cstdio>
#include <cstring>
#include <new>
#include <stdexcept>
#include <string>
#include <thread>

#include "base/core/error.hpp"
#include "base/file/log.hpp"
#include "base/file/run_guarded.hpp"

namespace {

void end_as_told(const karst::Comm& comm, const std::string& how) {
  const bool last = comm.rank() == comm.size() - 1;
  if (how == "fine") return;
  if (how == "all") throw karst::Error("deck.toml:3: grid.box: 12 given");
  if (how == "two-lines") throw karst::Error("deck.toml:3: first\ndeck.toml:4: second");
  if (how == "different") throw karst::Error("file of rank " + std::to_string(comm.rank()) + " is missing");
  if (how == "one" && last) throw karst::Error("slab is truncated");
  if (how == "one-others-wait") {
    if (last) throw karst::Error("slab is truncated");
    comm.sum(1.0);
  }
  if (how == "one-others-late") {
    if (last) throw karst::Error("slab is truncated");
    std::this_thread::sleep_for(std::chrono::milliseconds(500));
  }
  if (how == "memory") throw std::bad_alloc();
  if (how == "standard") throw std::out_of_range("vector::at");
  if (how == "unknown") throw 3;
  if (how == "status-3") throw karst::ExitStatus{3};
  if (how == "status-0") throw karst::ExitStatus{0};
}

}  // namespace

int main(int argc, char** argv) {
  return karst::run_guarded(argc, argv, [&](const karst::Comm& comm) {
    karst::set_up_log(comm);
    karst::log_info("begin");
    end_as_told(comm, argc > 1 ? argv[1] : "fine");
  });
}
