// SPDX-License-Identifier: BSD-3-Clause
#include "base/comm/comm.hpp"

#include <time.h>  // NOLINT(modernize-deprecated-headers): clock_gettime

#include <algorithm>
#include <climits>
#include <list>
#include <map>

#include "base/comm/trace.hpp"
#include "base/comm/trace_calls.hpp"
#include "base/core/error.hpp"
#include "base/core/timer_clock.hpp"
#include "base/core/traffic.hpp"

namespace karst {

namespace {

constexpr int sparse_tag = Exchange::largest_tag + 1;  // and the next one, in turn

/// An MPI type of any number of bytes: MPI counts are int, types are not limited. One element of it is the message.
class ByteType {
 public:
  explicit ByteType(std::size_t bytes) {
    if (bytes <= INT_MAX) {
      count_ = static_cast<int>(bytes);
      return;
    }
    constexpr std::size_t block = std::size_t{1} << 30;
    const std::size_t blocks = bytes / block;
    require(blocks <= INT_MAX, "message of {} bytes: larger than MPI can describe", bytes);
    MPI_Datatype one_block = MPI_DATATYPE_NULL, many = MPI_DATATYPE_NULL;
    MPI_Type_contiguous(static_cast<int>(block), MPI_BYTE, &one_block);
    MPI_Type_contiguous(static_cast<int>(blocks), one_block, &many);
    const int lengths[2] = {1, static_cast<int>(bytes % block)};
    const MPI_Aint places[2] = {0, static_cast<MPI_Aint>(blocks * block)};
    const MPI_Datatype types[2] = {many, MPI_BYTE};
    MPI_Type_create_struct(2, lengths, places, types, &type_);
    MPI_Type_commit(&type_);
    MPI_Type_free(&many);
    MPI_Type_free(&one_block);
    owned_ = true;
  }
  ByteType(const ByteType&) = delete;
  ByteType& operator=(const ByteType&) = delete;
  ~ByteType() {
    if (owned_) MPI_Type_free(&type_);  // pending messages keep their own hold on it
  }
  int count() const { return count_; }
  MPI_Datatype type() const { return type_; }

 private:
  MPI_Datatype type_ = MPI_BYTE;
  int count_ = 1;
  bool owned_ = false;
};

Traffic counted;
const detail::ClockPair clock_start;
/// Read only where it is asked for: each look is a call of the system.
bool by_processor = false;
std::int64_t processor_waited = 0;  ///< [ns]

std::int64_t processor_nanoseconds() {
  timespec t{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return 1000000000 * static_cast<std::int64_t>(t.tv_sec) + t.tv_nsec;
}

/// Counts the rest of a block as waiting.
class Waiting {
 public:
  Waiting() = default;
  Waiting(const Waiting&) = delete;
  Waiting& operator=(const Waiting&) = delete;
  ~Waiting() {
    counted.ticks_waited += detail::ticks_now() - begin_;
    if (by_processor) processor_waited += processor_nanoseconds() - processor_;  // it may spin
  }

 private:
  detail::Ticks begin_ = detail::ticks_now();
  std::int64_t processor_ = by_processor ? processor_nanoseconds() : 0;
};

/// Among all ranks of the program, as traces name them.
int world_rank(MPI_Comm comm, int rank) {
  if (comm == MPI_COMM_WORLD) return rank;
  MPI_Group here = MPI_GROUP_NULL, world = MPI_GROUP_NULL;
  MPI_Comm_group(comm, &here);
  MPI_Comm_group(MPI_COMM_WORLD, &world);
  int there = rank;
  MPI_Group_translate_ranks(here, 1, &rank, world, &there);
  MPI_Group_free(&here);
  MPI_Group_free(&world);
  return there;
}

/// A call that waits for all ranks, also in a trace.
class Together {
 public:
  Together(std::uint32_t name, MPI_Comm comm, std::size_t bytes, int root = 0)
      : Together(name, bytes, ranks_of(comm) > 1) {
    if (trace::on && ranks_of(comm) > 1) [[unlikely]]
      trace::among(name, world_rank(comm, 1) - world_rank(comm, 0), root);
  }

 private:
  Together(std::uint32_t name, std::size_t bytes, bool several)
      : slice_(name, static_cast<std::int64_t>(bytes), trace::on && several) {
    counted.collectives += several;
  }
  static int ranks_of(MPI_Comm comm) {
    int n = 1;
    MPI_Comm_size(comm, &n);
    return n;
  }
  trace::Slice slice_;
  Waiting waiting_;
};
const std::uint32_t reduction = trace::number_of("reduction"), gather = trace::number_of("gather"),
                    broadcast_name = trace::number_of("broadcast"), consensus = trace::number_of("sparse exchange"),
                    wait_for_messages = trace::number_of("wait for messages");

template <class T>
T all_reduce(T x, MPI_Datatype type, MPI_Op op, MPI_Comm comm) {
  const Together together(reduction, comm, sizeof(T));
  MPI_Allreduce(MPI_IN_PLACE, &x, 1, type, op, comm);
  return x;
}

template <class T>
void all_reduce(std::span<T> x, MPI_Datatype type, MPI_Op op, MPI_Comm comm) {
  constexpr std::size_t most = std::size_t{1} << 30;
  const Together together(reduction, comm, x.size_bytes());
  for (std::size_t begin = 0; begin < x.size(); begin += most) {
    const std::size_t n = std::min(most, x.size() - begin);
    MPI_Allreduce(MPI_IN_PLACE, x.data() + begin, static_cast<int>(n), type, op, comm);
  }
}

/// Communicators that were made of this one, by their step, or by minus the number of parts; they live as long as MPI
/// does.
std::map<int, MPI_Comm>& parts_of(MPI_Comm comm) {
  static const int key = [] {
    int k = MPI_KEYVAL_INVALID;
    MPI_Comm_create_keyval(
        MPI_COMM_NULL_COPY_FN,
        [](MPI_Comm, int, void* parts, void*) {
          delete static_cast<std::map<int, MPI_Comm>*>(parts);
          return MPI_SUCCESS;
        },
        &k, nullptr);
    return k;
  }();
  void* parts = nullptr;
  int found = 0;
  MPI_Comm_get_attr(comm, key, &parts, &found);
  if (!found) {
    parts = new std::map<int, MPI_Comm>;
    MPI_Comm_set_attr(comm, key, parts);
  }
  return *static_cast<std::map<int, MPI_Comm>*>(parts);
}

/// Tag of the next sparse exchange: two in turn, since a fast rank may be one round ahead, never two. The number of
/// rounds is kept with the communicator itself, so copies of Comm agree.
int next_sparse_tag(MPI_Comm comm) {
  static const int key = [] {
    int k = MPI_KEYVAL_INVALID;
    MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, MPI_COMM_NULL_DELETE_FN, &k, nullptr);
    return k;
  }();
  void* round = nullptr;
  int found = 0;
  MPI_Comm_get_attr(comm, key, &round, &found);
  const std::uintptr_t now = found ? reinterpret_cast<std::uintptr_t>(round) : 0;
  MPI_Comm_set_attr(comm, key, reinterpret_cast<void*>(now ^ 1U));  // NOLINT(performance-no-int-to-ptr)
  return sparse_tag + static_cast<int>(now);
}

/// Receives one message of this tag when there is one.
bool receive_any(MPI_Comm comm, int tag, std::vector<Message>& in) {
  int arrived = 0;
  MPI_Status status;
  MPI_Message handle = MPI_MESSAGE_NULL;
  MPI_Improbe(MPI_ANY_SOURCE, tag, comm, &arrived, &handle, &status);
  if (!arrived) return false;
  MPI_Count bytes = 0;
  MPI_Get_elements_x(&status, MPI_BYTE, &bytes);
  in.push_back({status.MPI_SOURCE, std::vector<std::byte>(bytes)});
  const ByteType type(in.back().bytes.size());
  MPI_Mrecv(in.back().bytes.data(), type.count(), type.type(), &handle, MPI_STATUS_IGNORE);
  return true;
}

}  // namespace

const Traffic& traffic() { return counted; }

double seconds_waited(const Traffic& traffic) {
  return static_cast<double>(traffic.ticks_waited) * detail::seconds_per_tick(clock_start);
}

double seconds_worked() {
  if (by_processor) return 1e-9 * static_cast<double>(processor_nanoseconds() - processor_waited);
  const Traffic until_now{.ticks_waited = counted.ticks_waited - (detail::ticks_now() - clock_start.ticks)};
  return -seconds_waited(until_now);
}

void count_processor_time(bool yes) { by_processor = yes; }

Comm::Comm(MPI_Comm handle) : handle_(handle) {
  int begun = 0, ended = 0;
  MPI_Initialized(&begun);
  MPI_Finalized(&ended);
  require(begun && !ended, "Comm: MPI does not run ({}); start it with run_guarded()", ended ? "ended" : "not begun");
  require(handle != MPI_COMM_NULL, "Comm: the communicator is MPI_COMM_NULL; this rank is not part of the group");
  MPI_Comm_rank(handle_, &rank_);
  MPI_Comm_size(handle_, &size_);
}

Comm Comm::world() { return Comm(MPI_COMM_WORLD); }
Comm Comm::self() { return Comm(MPI_COMM_SELF); }

std::optional<Comm> Comm::every(int n) const {
  require(n > 0, "Comm: every {} ranks; it must be 1 or more", n);
  const auto [at, added] = parts_of(handle_).try_emplace(n, MPI_COMM_NULL);
  if (added) {
    const Together together(gather, handle_, 0);
    MPI_Comm_split(handle_, rank_ % n == 0 ? 0 : MPI_UNDEFINED, rank_, &at->second);
  }
  return at->second == MPI_COMM_NULL ? std::nullopt : std::optional(Comm(at->second));
}

Comm Comm::part(int n, int mine) const {
  require(0 <= mine && mine < n, "Comm: part {} of {}; it must be 0 or more and less than their number", mine, n);
  const auto [at, added] = parts_of(handle_).try_emplace(-n, MPI_COMM_NULL);
  if (added) {
    const Together together(gather, handle_, 0);
    MPI_Comm_split(handle_, mine, rank_, &at->second);
  }
  return Comm(at->second);
}

std::vector<int> Comm::machines() const {
  MPI_Comm mine = MPI_COMM_NULL;
  int lowest = rank_;
  {
    const Together together(gather, handle_, 0);
    MPI_Comm_split_type(handle_, MPI_COMM_TYPE_SHARED, rank_, MPI_INFO_NULL, &mine);
    MPI_Bcast(&lowest, 1, MPI_INT, 0, mine);
    MPI_Comm_free(&mine);
  }
  return all_gather(std::span<const int>(&lowest, 1));
}

double Comm::sum(double x) const { return all_reduce(x, MPI_DOUBLE, MPI_SUM, handle_); }
std::int64_t Comm::sum(std::int64_t x) const { return all_reduce(x, MPI_INT64_T, MPI_SUM, handle_); }
double Comm::max(double x) const { return all_reduce(x, MPI_DOUBLE, MPI_MAX, handle_); }
double Comm::min(double x) const { return all_reduce(x, MPI_DOUBLE, MPI_MIN, handle_); }
std::int64_t Comm::max(std::int64_t x) const { return all_reduce(x, MPI_INT64_T, MPI_MAX, handle_); }
std::int64_t Comm::min(std::int64_t x) const { return all_reduce(x, MPI_INT64_T, MPI_MIN, handle_); }
bool Comm::any(bool x) const { return all_reduce(x ? 1 : 0, MPI_INT, MPI_MAX, handle_) != 0; }
void Comm::sum(std::span<double> x) const { all_reduce(x, MPI_DOUBLE, MPI_SUM, handle_); }
void Comm::sum(std::span<std::int64_t> x) const { all_reduce(x, MPI_INT64_T, MPI_SUM, handle_); }
void Comm::max(std::span<double> x) const { all_reduce(x, MPI_DOUBLE, MPI_MAX, handle_); }

std::int64_t Comm::exclusive_sum(std::int64_t x) const {
  std::int64_t below = 0;
  const Together together(reduction, handle_, sizeof(x));
  MPI_Exscan(&x, &below, 1, MPI_INT64_T, MPI_SUM, handle_);
  return rank_ == 0 ? 0 : below;  // rank 0 receives nothing from MPI_Exscan
}

std::vector<std::int64_t> Comm::gather_sizes(std::int64_t bytes) const {
  std::vector<std::int64_t> sizes(size_);
  const Together together(gather, handle_, sizeof(bytes));
  MPI_Allgather(&bytes, 1, MPI_INT64_T, sizes.data(), 1, MPI_INT64_T, handle_);
  return sizes;
}

void Comm::gather_bytes(std::span<const std::byte> mine, const std::vector<std::int64_t>& sizes,
                        std::span<std::byte> all) const {
  const Together together(gather, handle_, all.size());
  if (all.size() <= INT_MAX) {
    std::vector<int> counts, places;
    int place = 0;
    for (const std::int64_t s : sizes) {
      counts.push_back(static_cast<int>(s));
      places.push_back(place);
      place += counts.back();
    }
    MPI_Allgatherv(mine.data(), static_cast<int>(mine.size()), MPI_BYTE, all.data(), counts.data(), places.data(),
                   MPI_BYTE, handle_);
    return;
  }
  std::size_t place = 0;
  for (int r = 0; r < size_; ++r) {
    const std::span<std::byte> part = all.subspan(place, sizes[r]);
    if (r == rank_) std::copy(mine.begin(), mine.end(), part.begin());
    broadcast_bytes(part, r);
    place += part.size();
  }
}

void Comm::broadcast_bytes(std::span<std::byte> x, int root) const {
  require(root >= 0 && root < size_, "broadcast from rank {}: there are ranks 0 to {}", root, size_ - 1);
  const ByteType type(x.size());
  const Together together(broadcast_name, handle_, x.size(), root);
  MPI_Bcast(x.data(), type.count(), type.type(), root, handle_);
}

void Comm::broadcast(std::string& x, int root) const {
  auto size = static_cast<std::int64_t>(x.size());
  broadcast(std::span(&size, 1), root);
  x.resize(size);
  broadcast(std::span(x.data(), x.size()), root);
}

std::vector<Message> Comm::sparse_exchange(const std::vector<Message>& out) const {
  std::vector<Message> in;
  std::ranges::copy_if(out, std::back_inserter(in), [&](const Message& m) { return m.rank == rank_; });
  exchange_with_others(out, in);
  return in;
}

std::vector<Message> Comm::sparse_exchange(std::vector<Message>&& out) const {
  std::vector<Message> in;
  for (Message& m : out)
    if (m.rank == rank_) in.push_back({m.rank, std::move(m.bytes)});
  exchange_with_others(out, in);
  return in;
}

/// @param[in,out] in  messages of this rank to itself, then all, sorted by rank
void Comm::exchange_with_others(const std::vector<Message>& out, std::vector<Message>& in) const {
  for (const Message& m : out) {
    require(m.rank >= 0 && m.rank < size_, "sparse exchange: message for rank {}, there are ranks 0 to {}", m.rank,
            size_ - 1);
  }
  const Together together(consensus, handle_, 0);
  const int tag = next_sparse_tag(handle_);
  std::vector<MPI_Request> sends(out.size(), MPI_REQUEST_NULL);
  for (std::size_t i = 0; i < out.size(); ++i) {
    if (out[i].rank == rank_) continue;
    const ByteType type(out[i].bytes.size());
    MPI_Issend(out[i].bytes.data(), type.count(), type.type(), out[i].rank, tag, handle_, &sends[i]);
  }
  MPI_Request barrier = MPI_REQUEST_NULL;
  bool mine_arrived = false;
  for (int all_arrived = 0; !all_arrived;) {
    while (receive_any(handle_, tag, in)) {
    }
    if (mine_arrived) {
      MPI_Test(&barrier, &all_arrived, MPI_STATUS_IGNORE);
    } else {
      int done = 0;
      MPI_Testall(static_cast<int>(sends.size()), sends.data(), &done, MPI_STATUSES_IGNORE);
      if (done) {
        MPI_Ibarrier(handle_, &barrier);
        mine_arrived = true;
      }
    }
  }
  std::stable_sort(in.begin(), in.end(), [](const Message& a, const Message& b) { return a.rank < b.rank; });
}

namespace {

int own_rank(MPI_Comm comm) {
  int rank = 0;
  MPI_Comm_rank(comm, &rank);
  return world_rank(comm, rank);
}

}  // namespace

Exchange::Exchange(const Comm& comm, int tag) : handle_(comm.handle()), tag_(tag) {
  require(tag >= 0 && tag <= largest_tag, "exchange: tag {} is not in 0 .. {}", tag, largest_tag);
}

Exchange::~Exchange() {
  for (MPI_Request& r : receives_) {
    if (r == MPI_REQUEST_NULL) continue;
    MPI_Cancel(&r);
    MPI_Request_free(&r);
  }
  for (MPI_Request& r : sends_) {
    if (r != MPI_REQUEST_NULL) MPI_Request_free(&r);
  }
}

void Exchange::receive(int rank, std::span<std::byte> into) {
  const ByteType type(into.size());
  receives_.push_back(MPI_REQUEST_NULL);
  if (trace::on) [[unlikely]]
    traced_.push_back({world_rank(handle_, rank),
                       trace::next_message(world_rank(handle_, rank), own_rank(handle_), tag_, trace::End::receiver),
                       static_cast<std::int64_t>(into.size())});
  MPI_Irecv(into.data(), type.count(), type.type(), rank, tag_, handle_, &receives_.back());
}

void Exchange::send(int rank, std::span<const std::byte> from) {
  const ByteType type(from.size());
  sends_.push_back(MPI_REQUEST_NULL);
  if (trace::on) [[unlikely]]
    trace::sent(world_rank(handle_, rank),
                trace::next_message(own_rank(handle_), world_rank(handle_, rank), tag_, trace::End::sender),
                static_cast<std::int64_t>(from.size()));
  MPI_Isend(from.data(), type.count(), type.type(), rank, tag_, handle_, &sends_.back());
  ++counted.messages;
  counted.bytes += static_cast<std::int64_t>(from.size());
}

int Exchange::wait_any() {
  int which = MPI_UNDEFINED;
  {
    const trace::Slice slice(wait_for_messages, trace::no_value, trace::on && !receives_.empty());
    const Waiting waiting;
    MPI_Waitany(static_cast<int>(receives_.size()), receives_.data(), &which, MPI_STATUS_IGNORE);
  }
  if (which != MPI_UNDEFINED) {
    if (!traced_.empty()) [[unlikely]]
      trace::received(traced_[which].from, traced_[which].message, traced_[which].bytes);
    return which;
  }
  receives_.clear();  // ready for the next round
  traced_.clear();
  return -1;
}

void Exchange::wait_sends() {
  const trace::Slice slice(wait_for_messages, trace::no_value, trace::on && !sends_.empty());
  const Waiting waiting;
  MPI_Waitall(static_cast<int>(sends_.size()), sends_.data(), MPI_STATUSES_IGNORE);
  sends_.clear();
}

}  // namespace karst
