// SPDX-License-Identifier: BSD-3-Clause
#include "base/comm/comm.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <cstring>
#include <numeric>
#include <random>
#include <thread>

#include "base/core/error.hpp"
#include "base/core/traffic.hpp"

namespace karst::comm_test {
namespace {

std::vector<std::byte> bytes_of(std::int64_t x, std::size_t copies) {
  std::vector<std::byte> bytes(copies * sizeof x);
  for (std::size_t i = 0; i < copies; ++i) std::memcpy(bytes.data() + i * sizeof x, &x, sizeof x);
  return bytes;
}

TEST(CommMpi, ReductionsOverRanks) {
  const Comm comm = Comm::world();
  const std::int64_t n = comm.size(), r = comm.rank();
  EXPECT_EQ(comm.sum(r), n * (n - 1) / 2);
  EXPECT_DOUBLE_EQ(comm.sum(0.5 * static_cast<double>(r)), 0.25 * static_cast<double>(n * (n - 1)));
  EXPECT_EQ(comm.max(r), n - 1);
  EXPECT_EQ(comm.min(r), 0);
  EXPECT_EQ(comm.max(-static_cast<double>(r)), 0.0);
  EXPECT_EQ(comm.min(-static_cast<double>(r)), 1.0 - static_cast<double>(n));
  EXPECT_TRUE(comm.any(r == n - 1));
  EXPECT_FALSE(comm.any(false));
  EXPECT_EQ(comm.exclusive_sum(r + 1), r * (r + 1) / 2);
  std::vector<double> x{1.0, static_cast<double>(r)};
  comm.sum(std::span(x));
  EXPECT_EQ(x, (std::vector<double>{static_cast<double>(n), static_cast<double>(n * (n - 1) / 2)}));
  std::vector<double> y{static_cast<double>(r), -static_cast<double>(r)};
  comm.max(std::span(y));
  EXPECT_EQ(y, (std::vector<double>{static_cast<double>(n - 1), 0.0}));
  std::vector<std::int64_t> none;
  comm.sum(std::span(none));
}

/// Every second, third, ... rank; the same communicator when asked again.
TEST(CommMpi, EverySoManyRanks) {
  const Comm comm = Comm::world();
  for (int n = 1; n <= comm.size() + 1; ++n)
    for (int again = 0; again < 2; ++again) {
      const std::optional<Comm> some = comm.every(n);
      ASSERT_EQ(some.has_value(), comm.rank() % n == 0);
      if (!some) continue;
      EXPECT_EQ(some->size(), (comm.size() + n - 1) / n);
      EXPECT_EQ(some->rank(), comm.rank() / n);
      EXPECT_EQ(some->max(std::int64_t{comm.rank()}), (comm.size() - 1) / n * n);
    }
  EXPECT_THROW(static_cast<void>(comm.every(0)), Error);
}

/// Ranks that name the same part, in their order; the same communicator when asked again.
TEST(CommMpi, Parts) {
  const Comm comm = Comm::world();
  for (int n = 1; n <= comm.size(); ++n)
    for (int again = 0; again < 2; ++again) {
      const int mine = comm.rank() % n;
      const Comm part = comm.part(n, mine);
      EXPECT_EQ(part.size(), (comm.size() - mine + n - 1) / n);
      EXPECT_EQ(part.rank(), comm.rank() / n);
      EXPECT_EQ(part.min(std::int64_t{comm.rank()}), mine);
    }
  EXPECT_THROW(static_cast<void>(comm.part(2, 2)), Error);
}

/// All ranks of a test run on one machine.
TEST(CommMpi, Machines) {
  const Comm comm = Comm::world();
  EXPECT_EQ(comm.machines(), std::vector<int>(comm.size(), 0));
}

TEST(CommMpi, GathersListsOfDifferentLengthInRankOrder) {
  const Comm comm = Comm::world();
  const std::vector<int> mine(comm.rank(), comm.rank());  // rank 0 has none
  std::vector<int> expected;
  for (int r = 0; r < comm.size(); ++r) expected.insert(expected.end(), static_cast<std::size_t>(r), r);
  EXPECT_EQ(comm.all_gather(std::span<const int>(mine)), expected);
}

TEST(CommMpi, BroadcastsFromAnyRank) {
  const Comm comm = Comm::world();
  for (int root = 0; root < comm.size(); ++root) {
    std::string text = comm.rank() == root ? "pore " + std::to_string(root) : "a longer text that goes";
    comm.broadcast(text, root);
    EXPECT_EQ(text, "pore " + std::to_string(root));
  }
  std::vector<double> x(3, comm.rank());
  EXPECT_THROW(comm.broadcast(std::span(x), comm.size()), Error);
  EXPECT_THROW(comm.broadcast(std::span(x), -1), Error);
}

// Random partners, sizes on both sides of the eager limit, many rounds one after the other without anything between:
// a fast rank is a round ahead, and no message may be taken in the wrong round.
TEST(CommMpi, SparseExchangeDeliversEachMessageInItsRound) {
  const Comm comm = Comm::world();
  const std::size_t size = comm.size();
  for (int round = 0; round < 100; ++round) {
    std::mt19937 random(static_cast<unsigned>(round));  // the same table of counts on every rank
    std::vector<std::vector<std::size_t>> copies(size, std::vector<std::size_t>(size));
    for (auto& row : copies) {
      for (auto& c : row) c = random() % 3 == 0 ? 0 : 1 + random() % 1000;
    }
    const std::size_t me = comm.rank();
    std::vector<Message> out;
    for (std::size_t to = size; to-- > 0;) {
      if (copies[me][to] > 0)
        out.push_back({static_cast<int>(to), bytes_of(1000 * round + comm.rank(), copies[me][to])});
    }
    const std::vector<Message> in =
        round % 2 == 0 ? comm.sparse_exchange(out) : comm.sparse_exchange(std::move(out));  // kept, or handed over
    std::size_t at = 0;
    for (std::size_t from = 0; from < size; ++from) {
      if (copies[from][me] == 0) continue;
      ASSERT_LT(at, in.size());
      EXPECT_EQ(in[at].rank, static_cast<int>(from));
      EXPECT_EQ(in[at].bytes, bytes_of(1000 * round + static_cast<std::int64_t>(from), copies[from][me]));
      ++at;
    }
    ASSERT_EQ(at, in.size());
  }
}

TEST(CommMpi, SparseExchangeKeepsTheOrderOfSeveralMessagesAndEmptyOnes) {
  const Comm comm = Comm::world();
  const int next = (comm.rank() + 1) % comm.size(), before = (comm.rank() + comm.size() - 1) % comm.size();
  const std::vector<Message> in = comm.sparse_exchange({{next, bytes_of(1, 1)}, {next, {}}, {next, bytes_of(3, 1)}});
  ASSERT_EQ(in.size(), 3U);
  EXPECT_EQ(in[0].rank, before);
  EXPECT_EQ(in[0].bytes, bytes_of(1, 1));
  EXPECT_TRUE(in[1].bytes.empty());
  EXPECT_EQ(in[2].bytes, bytes_of(3, 1));
}

TEST(CommMpi, SparseExchangeRefusesARankThatDoesNotExist) {
  const Comm comm = Comm::world();
  EXPECT_THROW(comm.sparse_exchange({{comm.size(), {}}}), Error);
  EXPECT_THROW(comm.sparse_exchange({{-1, {}}}), Error);
  EXPECT_TRUE(comm.sparse_exchange({}).empty());
}

TEST(CommMpi, ExchangeHandsOutEveryReceiveOnce) {
  const Comm comm = Comm::world();
  const std::size_t size = comm.size();
  constexpr std::size_t n = 5000;  // above the eager limit
  std::vector<std::vector<std::int64_t>> in(size, std::vector<std::int64_t>(n)), out = in;
  Exchange round(comm, 7);
  for (std::size_t r = 0; r < size; ++r) round.receive(static_cast<int>(r), std::as_writable_bytes(std::span(in[r])));
  for (std::size_t r = 0; r < size; ++r) {
    std::iota(out[r].begin(), out[r].end(), 100000 * comm.rank());
    round.send(static_cast<int>(r), std::as_bytes(std::span(out[r])));
  }
  std::vector<int> seen(size, 0);
  for (int which = 0; (which = round.wait_any()) >= 0;) {
    ++seen[which];
    const auto& got = in[which];
    EXPECT_EQ(got.front(), 100000 * which);
    EXPECT_EQ(got.back(), 100000 * which + static_cast<std::int64_t>(n) - 1);
  }
  round.wait_sends();
  EXPECT_EQ(seen, std::vector<int>(size, 1));
  EXPECT_EQ(round.wait_any(), -1);
}

TEST(CommMpi, AnExchangeLeftEarlyDoesNotHang) {
  const Comm comm = Comm::world();
  std::vector<std::byte> buffer(16);
  {
    Exchange round(comm, 8);
    round.receive((comm.rank() + 1) % comm.size(), buffer);  // nobody sends
  }
  EXPECT_EQ(comm.sum(std::int64_t{1}), comm.size());
}

TEST(Comm, RefusesWhatIsNoGroupAndTagsOfItsOwn) {
  EXPECT_THROW(Comm(MPI_COMM_NULL), Error);
  EXPECT_THROW(Exchange(Comm::self(), -1), Error);
  EXPECT_THROW(Exchange(Comm::self(), Exchange::largest_tag + 1), Error);
  EXPECT_EQ(Comm::self().size(), 1);
}

/// Rank 0 sleeps, which only the wall's clock counts, and the others wait for it, which none counts.
TEST(TrafficMpi, WaitingIsNotWork) {
  constexpr double slept = 0.2;
  const Comm comm = Comm::world();
  for (const bool of_processor : {false, true}) {
    count_processor_time(of_processor);
    comm.max(1.0);
    const double before = seconds_worked();
    if (comm.rank() == 0) std::this_thread::sleep_for(std::chrono::duration<double>(slept));
    comm.max(1.0);
    const double worked = seconds_worked() - before;
    if (comm.rank() == 0 && !of_processor)
      EXPECT_GE(worked, slept);
    else
      EXPECT_LT(worked, 0.5 * slept) << (of_processor ? "of the processor" : "of the clock");
  }
  // What is worked counts; how much of it is this rank's depends on who else is here.
  count_processor_time(true);
  const double before = seconds_worked();
  const auto end = std::chrono::steady_clock::now() + std::chrono::milliseconds(50);
  while (std::chrono::steady_clock::now() < end) {
  }
  EXPECT_GT(seconds_worked(), before);
  count_processor_time(false);
}

}  // namespace
}  // namespace karst::comm_test
