// SPDX-License-Identifier: BSD-3-Clause
#include "base/trace/trace_otf2.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <vector>

#include "base/core/error.hpp"

#ifdef KARST_OTF2
#include <otf2/otf2.h>
#endif

namespace karst::trace {

bool names_archive(const std::string& file) { return file.ends_with(".otf2"); }

#ifdef KARST_OTF2

namespace {

constexpr std::uint64_t chunk_of_events = 1U << 20U, chunk_of_definitions = 4U << 20U;  // [bytes]
constexpr std::uint64_t threads_per_rank = 1U << 16U;
constexpr OTF2_AttributeRef size_attribute = 0;  // bytes of a call, boxes of a loop
constexpr OTF2_GroupRef all_ranks = 0;           // the groups of communicators follow it

/// What the names of calls for several ranks stand for.
struct Collective {
  std::string_view name;
  OTF2_CollectiveOp operation;
  OTF2_RegionRole role;
};
constexpr std::array<Collective, 4> collectives{
    {{"reduction", OTF2_COLLECTIVE_OP_ALLREDUCE, OTF2_REGION_ROLE_COLL_ALL2ALL},
     {"gather", OTF2_COLLECTIVE_OP_ALLGATHERV, OTF2_REGION_ROLE_COLL_ALL2ALL},
     {"broadcast", OTF2_COLLECTIVE_OP_BCAST, OTF2_REGION_ROLE_COLL_ONE2ALL},
     {"sparse exchange", OTF2_COLLECTIVE_OP_ALLTOALLV, OTF2_REGION_ROLE_COLL_ALL2ALL}}};

OTF2_FlushType before_flush(void*, OTF2_FileType, OTF2_LocationRef, void*, bool) { return OTF2_FLUSH; }

/// The library is not to print: its codes become Errors.
OTF2_ErrorCode quiet(void*, const char*, std::uint64_t, const char*, OTF2_ErrorCode code, const char*, va_list) {
  return code;
}

/// Numbers of keys, in the order in which they come.
template <class Key>
class Numbers {
 public:
  std::uint32_t of(const Key& key) {
    const auto [at, added] = numbers_.try_emplace(key, static_cast<std::uint32_t>(keys_.size()));
    if (added) keys_.push_back(key);
    return at->second;
  }
  const std::vector<Key>& keys() const { return keys_; }  ///< by number

 private:
  std::map<Key, std::uint32_t> numbers_;
  std::vector<Key> keys_;
};

struct Location {
  OTF2_LocationRef ref;
  int rank, thread;
  std::uint64_t events;
};

}  // namespace

struct Otf2State {
  std::string folder;
  OTF2_Archive* archive = nullptr;
  OTF2_AttributeList* attributes = nullptr;
  int ranks = 0;
  std::uint64_t end = 0;  ///< time of the last event [ns]
  std::vector<Location> locations;
  Numbers<std::string> regions, parameters;  ///< by name
  Numbers<std::uint64_t> communicators;      ///< n of the ranks 0, n, 2n ...

  Otf2State() = default;
  Otf2State(const Otf2State&) = delete;
  Otf2State& operator=(const Otf2State&) = delete;
  ~Otf2State() {
    if (attributes != nullptr) OTF2_AttributeList_Delete(attributes);
    if (archive != nullptr) OTF2_Archive_Close(archive);
  }
  void check(OTF2_ErrorCode code) const {
    require(code == OTF2_SUCCESS, "{}: the trace cannot be written: {}; is the disk full?", folder,
            OTF2_Error_GetDescription(code));
  }
};

namespace {

const Collective* collective_of(std::string_view name) {
  const auto* const found = std::ranges::find(collectives, name, &Collective::name);
  return found == collectives.end() ? nullptr : found;
}

/// Writes the events of one thread.
class LocationWriter {
 public:
  LocationWriter(Otf2State& state, const std::vector<std::string>& names, OTF2_LocationRef location)
      : state_(state), names_(names), writer_(OTF2_Archive_GetEvtWriter(state.archive, location)) {
    require(writer_ != nullptr, "{}: the trace cannot be written: no file of events was made", state.folder);
  }

  void write(const Event& e) {
    time_ = std::max(time_, static_cast<std::uint64_t>(std::max<std::int64_t>(e.time, 0)));
    switch (static_cast<Kind>(e.kind)) {
      case Kind::begin:
        return enter(e);
      case Kind::end:
        return leave();
      case Kind::mark:
        return count(
            OTF2_EvtWriter_ParameterInt(writer_, nullptr, time_, state_.parameters.of(names_[e.name]), e.value));
      case Kind::sent:
        return count(OTF2_EvtWriter_MpiSend(writer_, nullptr, time_, e.peer, everybody(), tag_of(e), bytes_of(e)));
      case Kind::received:
        return count(OTF2_EvtWriter_MpiRecv(writer_, nullptr, time_, e.peer, everybody(), tag_of(e), bytes_of(e)));
    }
  }

  /// Slices without an end are ended with the last event. Returns the number of events.
  std::uint64_t close() {
    while (!open_.empty()) leave();
    state_.end = std::max(state_.end, time_);
    state_.check(OTF2_Archive_CloseEvtWriter(state_.archive, writer_));
    return events_;
  }

 private:
  static std::uint32_t tag_of(const Event& e) { return static_cast<std::uint32_t>(e.message) & 0x7fffffffU; }
  static std::uint64_t bytes_of(const Event& e) { return static_cast<std::uint64_t>(e.value); }
  OTF2_CommRef everybody() { return state_.communicators.of(std::uint64_t{1}); }

  void count(OTF2_ErrorCode code) {
    state_.check(code);
    ++events_;
  }

  void enter(const Event& e) {
    const OTF2_RegionRef region = state_.regions.of(names_[e.name]);
    if (e.value != no_value) state_.check(OTF2_AttributeList_AddInt64(state_.attributes, size_attribute, e.value));
    count(OTF2_EvtWriter_Enter(writer_, state_.attributes, time_, region));
    if (collective_of(names_[e.name]) != nullptr) count(OTF2_EvtWriter_MpiCollectiveBegin(writer_, nullptr, time_));
    open_.push_back(e);
  }

  void leave() {
    const Event begun = open_.back();
    open_.pop_back();
    const std::string& name = names_[begun.name];
    if (const Collective* const call = collective_of(name); call != nullptr) {
      const bool from_one = call->operation == OTF2_COLLECTIVE_OP_BCAST;
      count(OTF2_EvtWriter_MpiCollectiveEnd(
          writer_, nullptr, time_, call->operation, state_.communicators.of(begun.message),
          from_one ? begun.peer : OTF2_COLLECTIVE_ROOT_NONE, bytes_of(begun), bytes_of(begun)));
    }
    count(OTF2_EvtWriter_Leave(writer_, nullptr, time_, state_.regions.of(name)));
  }

  Otf2State& state_;
  const std::vector<std::string>& names_;
  OTF2_EvtWriter* writer_;
  std::vector<Event> open_;
  std::uint64_t time_ = 0, events_ = 0;
};

/// The definitions that all events refer to.
class Definitions {
 public:
  explicit Definitions(Otf2State& state) : state_(state), writer_(OTF2_Archive_GetGlobalDefWriter(state.archive)) {
    require(writer_ != nullptr, "{}: the trace cannot be written: no file of definitions was made", state.folder);
  }

  void write() {
    constexpr std::uint64_t nanoseconds = 1'000'000'000;
    state_.check(
        OTF2_GlobalDefWriter_WriteClockProperties(writer_, nanoseconds, 0, state_.end + 1, OTF2_UNDEFINED_TIMESTAMP));
    state_.check(OTF2_GlobalDefWriter_WriteSystemTreeNode(writer_, 0, text("machine"), text("machine"),
                                                          OTF2_UNDEFINED_SYSTEM_TREE_NODE));
    for (int rank = 0; rank < state_.ranks; ++rank)
      state_.check(OTF2_GlobalDefWriter_WriteLocationGroup(
          writer_, static_cast<OTF2_LocationGroupRef>(rank), text(fmt::format("rank {}", rank)),
          OTF2_LOCATION_GROUP_TYPE_PROCESS, 0, OTF2_UNDEFINED_LOCATION_GROUP));
    for (const Location& l : state_.locations)
      state_.check(OTF2_GlobalDefWriter_WriteLocation(writer_, l.ref, text(fmt::format("thread {}", l.thread)),
                                                      OTF2_LOCATION_TYPE_CPU_THREAD, l.events,
                                                      static_cast<OTF2_LocationGroupRef>(l.rank)));
    state_.check(OTF2_GlobalDefWriter_WriteAttribute(writer_, size_attribute, text("size"),
                                                     text("bytes of a call for several ranks, boxes of a loop"),
                                                     OTF2_TYPE_INT64));
    for (const std::string& name : state_.parameters.keys())
      state_.check(OTF2_GlobalDefWriter_WriteParameter(writer_, state_.parameters.of(name), text(name),
                                                       OTF2_PARAMETER_TYPE_INT64));
    write_regions();
    write_communicators();
  }

 private:
  OTF2_StringRef text(const std::string& words) {
    const auto [at, added] = texts_.try_emplace(words, static_cast<OTF2_StringRef>(texts_.size()));
    if (added) state_.check(OTF2_GlobalDefWriter_WriteString(writer_, at->second, words.c_str()));
    return at->second;
  }

  void write_regions() {
    for (const std::string& name : state_.regions.keys()) {
      const Collective* const call = collective_of(name);
      const bool waits = name == "wait for messages";
      OTF2_RegionRole role = OTF2_REGION_ROLE_FUNCTION;
      if (call != nullptr) role = call->role;
      if (waits) role = OTF2_REGION_ROLE_POINT2POINT;
      if (name == "boxes") role = OTF2_REGION_ROLE_LOOP;
      const OTF2_Paradigm paradigm = call != nullptr || waits ? OTF2_PARADIGM_MPI : OTF2_PARADIGM_USER;
      state_.check(OTF2_GlobalDefWriter_WriteRegion(writer_, state_.regions.of(name), text(name), text(name), text(""),
                                                    role, paradigm, OTF2_REGION_FLAG_NONE, text(""), 0, 0));
    }
  }

  /// Ranks of MPI are the first threads, in order.
  void write_communicators() {
    std::vector<std::uint64_t> first_threads;
    for (int rank = 0; rank < state_.ranks; ++rank)
      first_threads.push_back(static_cast<std::uint64_t>(rank) * threads_per_rank);
    state_.check(OTF2_GlobalDefWriter_WriteGroup(writer_, all_ranks, text("MPI"), OTF2_GROUP_TYPE_COMM_LOCATIONS,
                                                 OTF2_PARADIGM_MPI, OTF2_GROUP_FLAG_NONE,
                                                 static_cast<std::uint32_t>(state_.ranks), first_threads.data()));
    for (const std::uint64_t step : state_.communicators.keys()) {
      const OTF2_CommRef ref = state_.communicators.of(step);
      std::vector<std::uint64_t> members;
      for (std::uint64_t rank = 0; rank < static_cast<std::uint64_t>(state_.ranks); rank += step)
        members.push_back(rank);
      const std::string name = step == 1 ? "all ranks" : fmt::format("every {} ranks", step);
      const OTF2_GroupRef group = all_ranks + 1 + ref;
      state_.check(OTF2_GlobalDefWriter_WriteGroup(writer_, group, text(name), OTF2_GROUP_TYPE_COMM_GROUP,
                                                   OTF2_PARADIGM_MPI, OTF2_GROUP_FLAG_NONE,
                                                   static_cast<std::uint32_t>(members.size()), members.data()));
      state_.check(
          OTF2_GlobalDefWriter_WriteComm(writer_, ref, text(name), group, OTF2_UNDEFINED_COMM, OTF2_COMM_FLAG_NONE));
    }
  }

  Otf2State& state_;
  OTF2_GlobalDefWriter* writer_;
  std::map<std::string, OTF2_StringRef> texts_;
};

}  // namespace

bool has_otf2() { return true; }

Otf2Archive::Otf2Archive(const std::string& folder) : state_(std::make_unique<Otf2State>()) {
  state_->folder = folder;
  OTF2_Error_RegisterCallback(quiet, nullptr);
  state_->archive = OTF2_Archive_Open(folder.c_str(), "traces", OTF2_FILEMODE_WRITE, chunk_of_events,
                                      chunk_of_definitions, OTF2_SUBSTRATE_POSIX, OTF2_COMPRESSION_NONE);
  require(state_->archive != nullptr, "{}: the trace cannot be written: no archive of OTF2 can be made there", folder);
  static const OTF2_FlushCallbacks flush{before_flush, nullptr};
  state_->check(OTF2_Archive_SetFlushCallbacks(state_->archive, &flush, nullptr));
  state_->check(OTF2_Archive_SetSerialCollectiveCallbacks(state_->archive));
  state_->check(OTF2_Archive_OpenEvtFiles(state_->archive));
  state_->attributes = OTF2_AttributeList_New();
}

Otf2Archive::~Otf2Archive() = default;

void Otf2Archive::add(const RankEvents& events) {
  const int rank = state_->ranks++;
  std::uint64_t number = 0;
  for (const RankEvents::Track& track : events.tracks) {
    const OTF2_LocationRef ref = static_cast<std::uint64_t>(rank) * threads_per_rank + number++;
    LocationWriter writer(*state_, events.names, ref);
    for (const Event& e : track.events) writer.write(e);
    state_->locations.push_back({ref, rank, track.thread, writer.close()});
  }
}

void Otf2Archive::close() {
  state_->check(OTF2_Archive_CloseEvtFiles(state_->archive));
  state_->check(OTF2_Archive_OpenDefFiles(state_->archive));
  for (const Location& l : state_->locations) {
    OTF2_DefWriter* const local = OTF2_Archive_GetDefWriter(state_->archive, l.ref);
    state_->check(OTF2_Archive_CloseDefWriter(state_->archive, local));
  }
  state_->check(OTF2_Archive_CloseDefFiles(state_->archive));
  Definitions(*state_).write();
  state_->check(OTF2_Archive_Close(std::exchange(state_->archive, nullptr)));
}

#else

struct Otf2State {};

bool has_otf2() { return false; }
Otf2Archive::Otf2Archive(const std::string& folder) {
  throw Error(fmt::format("{}: Karst was built without the OTF2 library", folder));
}
Otf2Archive::~Otf2Archive() = default;
void Otf2Archive::add(const RankEvents&) {}
void Otf2Archive::close() {}

#endif

}  // namespace karst::trace
