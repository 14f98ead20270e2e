// SPDX-License-Identifier: BSD-3-Clause
// Events as an archive of the Open Trace Format 2, which Vampir, Scalasca and other tools read: a folder that contains
// traces.otf2. Only trace_otf2.cpp uses the library; without it archives are not available.
#pragma once

#include <memory>
#include <string>

#include "base/comm/trace_events.hpp"

namespace karst::trace {

/// The trace is to be an archive: the name ends with .otf2.
bool names_archive(const std::string& file);

/// Karst was built with the library.
bool has_otf2();

struct Otf2State;

/// An archive that one rank writes. Regions are timers, loops, shares of threads and waits; a location is a thread of a
/// rank. Calls for several ranks are collective operations of their communicator; messages go from rank to rank of all,
/// with the low bits of Event::message as tags; marks are parameters. Not collective.
class Otf2Archive {
 public:
  /// Throws Error: the folder cannot be made, or Karst was built without the library.
  explicit Otf2Archive(const std::string& folder);
  ~Otf2Archive();
  Otf2Archive(const Otf2Archive&) = delete;
  Otf2Archive& operator=(const Otf2Archive&) = delete;
  /// The next rank, from 0 on. Throws Error where it cannot be written.
  void add(const RankEvents& events);
  /// After all ranks. Throws Error where it cannot be written.
  void close();

 private:
  std::unique_ptr<Otf2State> state_;
};

}  // namespace karst::trace
