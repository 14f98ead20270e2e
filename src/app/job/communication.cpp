// SPDX-License-Identifier: BSD-3-Clause
#include "app/job/communication.hpp"

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>
#include <vector>

#include "app/job/feedback_balance.hpp"
#include "base/file/json.hpp"

namespace karst {

namespace {

/// Members and their names in the JSON, in order.
constexpr std::array<std::pair<const char*, OverRanks Communication::*>, 6> members{
    {{"messages", &Communication::messages},
     {"bytes", &Communication::bytes},
     {"collectives", &Communication::collectives},
     {"waited_seconds", &Communication::waited},
     {"exchange_messages", &Communication::exchange_messages},
     {"exchange_cells", &Communication::exchange_cells}}};

constexpr std::array<std::string_view, 7> aside{"geometry",       "open geometry", "pictures", "plotfile",
                                                "solves to disk", "surface",       "slices"};

}  // namespace

CountedJobs::CountedJobs() : aside_(spent_in(aside)), sent_(traffic()) {}

Communication CountedJobs::told(const Comm& comm, const Geometry& geometry) const {
  const Spent beside = spent_in(aside);
  const double seconds = clock_.seconds() - (beside.seconds - aside_.seconds);
  const Traffic sent = traffic() - sent_ - (beside.sent - aside_.sent);
  const std::array<double, 5> mine{static_cast<double>(sent.messages), static_cast<double>(sent.bytes),
                                   static_cast<double>(sent.collectives), seconds_waited(sent), seconds};
  const std::vector<double> all = comm.all_gather(std::span<const double>(mine));
  const auto over = [&](std::size_t number) {
    OverRanks found{mine[number], 0.0, mine[number]};
    for (std::size_t i = number; i < all.size(); i += mine.size()) {
      found.least = std::min(found.least, all[i]);
      found.mean += all[i] / comm.size();
      found.most = std::max(found.most, all[i]);
    }
    return found;
  };
  const RankPlan plan = plan_ranks(layouts_of(geometry));
  return {over(4).most, over(0), over(1), over(2), over(3), plan.messages_with_edges, plan.cells};
}

Json to_json(const Communication& communication) {
  Json json{{"seconds", communication.seconds}};
  for (const auto& [name, member] : members) {
    const OverRanks& x = communication.*member;
    json[name] = Json{{"least", x.least}, {"mean", x.mean}, {"most", x.most}};
  }
  return json;
}

Communication read_communication(const Json& json) {
  Communication communication;
  communication.seconds = json.at("seconds").get<double>();
  for (const auto& [name, member] : members) {
    const Json& x = json.at(name);
    communication.*member = {x.at("least").get<double>(), x.at("mean").get<double>(), x.at("most").get<double>()};
  }
  return communication;
}

}  // namespace karst
