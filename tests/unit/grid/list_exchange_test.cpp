// SPDX-License-Identifier: BSD-3-Clause
#include "grid/list_exchange.hpp"

#include <gtest/gtest.h>

#include <array>

#include "base/core/error.hpp"
#include "unit/grid/model.hpp"

namespace karst::list_exchange_test {
namespace {

constexpr int n_own = 40;

/// Some values of every other rank, the same list on every run.
std::vector<RemoteItem> some_items(const Comm& comm, int seed) {
  std::vector<RemoteItem> items;
  for (int rank = 0; rank < comm.size(); ++rank)
    for (int i = 0; i < n_own; ++i)
      if (rank != comm.rank() && test::mixed({seed, comm.rank(), rank, i}) % 3 == 0) items.push_back({rank, i});
  return items;
}

template <class T>
T value_of(int rank, std::int64_t number) {
  return static_cast<T>(1000 * rank + number);
}

template <class T>
void expect_exchanged(const Comm& comm, ListExchange& list, const std::vector<RemoteItem>& items) {
  std::vector<T> x;
  for (int i = 0; i < n_own; ++i) x.push_back(value_of<T>(comm.rank(), i));
  x.resize(x.size() + items.size());
  list.exchange(std::span(x));
  for (int i = 0; i < n_own; ++i) EXPECT_EQ(x[i], value_of<T>(comm.rank(), i));
  for (std::size_t i = 0; i < items.size(); ++i)
    EXPECT_EQ(x[n_own + i], value_of<T>(items[i].rank, items[i].number)) << i;
}

// One list serves rounds of any type.
TEST(ListExchangeMpi, FetchesWhatIsListed) {
  const Comm comm = Comm::world();
  const std::vector<RemoteItem> items = some_items(comm, 1);
  ListExchange list(comm, items);
  EXPECT_EQ(list.n_received(), std::ssize(items));
  EXPECT_EQ(comm.sum(std::ssize(list.sent())), comm.sum(list.n_received()));
  expect_exchanged<std::int16_t>(comm, list, items);
  expect_exchanged<double>(comm, list, items);
  expect_exchanged<std::int64_t>(comm, list, items);
}

// Rounds of several exchanges may be under way together and end in any order: one tag serves all.
TEST(ListExchangeMpi, RoundsUnderWayTogetherDoNotMix) {
  const Comm comm = Comm::world();
  constexpr std::size_t n = 4;
  std::array<std::vector<RemoteItem>, n> items;
  std::array<ListExchange, n> list;
  std::array<std::vector<double>, n> received;
  for (std::size_t k = 0; k < n; ++k) {
    items[k] = some_items(comm, static_cast<int>(k % 2));
    list[k] = ListExchange(comm, items[k]);
    received[k].resize(items[k].size());
  }
  const auto shift = [](std::size_t k) { return 1e6 * static_cast<double>(k + 1); };
  for (std::size_t k = 0; k < n; ++k)
    list[k].begin(std::span(received[k]),
                  [&](std::size_t i) { return shift(k) + value_of<double>(comm.rank(), list[k].sent()[i]); });
  for (const std::size_t k : {2, 0, 3, 1}) list[k].finish();
  for (std::size_t k = 0; k < n; ++k)
    for (std::size_t i = 0; i < items[k].size(); ++i)
      EXPECT_EQ(received[k][i], shift(k) + value_of<double>(items[k][i].rank, items[k][i].number)) << k << " " << i;
}

TEST(ListExchangeMpi, AllocatesNothingAfterTheWidestRound) {
  const Comm comm = Comm::world();
  const std::vector<RemoteItem> items = some_items(comm, 2);
  ListExchange list(comm, items);
  std::vector<double> x(n_own + items.size());
  std::vector<float> y(x.size());
  list.exchange(std::span(x));
  const std::int64_t before = arena::bytes_now(Purpose::buffers);
  list.exchange(std::span(y));
  list.exchange(std::span(x));
  EXPECT_EQ(arena::bytes_now(Purpose::buffers), before);
  EXPECT_EQ(list.bytes() > 0, comm.size() > 1);
}

TEST(ListExchange, MisuseIsNamed) {
  ListExchange list(Comm::self(), {});
  std::vector<double> none;
  EXPECT_THROW(list.finish(), Error);
  list.begin(std::span(none), [](std::size_t) { return 0.0; });
  EXPECT_THROW(list.exchange(std::span(none)), Error);
  list.finish();
  list.exchange(std::span(none));
}

}  // namespace
}  // namespace karst::list_exchange_test
