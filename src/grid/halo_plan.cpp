// SPDX-License-Identifier: BSD-3-Clause
#include "grid/halo_plan.hpp"

#include <cassert>
#include <map>

#include "grid/bytes.hpp"

namespace karst {
namespace {

/// A group of halo VoFs of an own box that another rank owns.
struct Wanted {
  int target;           ///< own box
  std::int64_t to;      ///< its first slot in a field
  std::int64_t source;  ///< box of the layout
  std::span<const std::uint16_t> vof;
};
using WantedOf = std::map<int, std::vector<Wanted>>;  ///< by rank, in the order of the target boxes

/// Splits the halo groups of all own boxes into local copies and what is wanted from other ranks.
WantedOf find_sources(const LevelGraph& graph, HaloPlan& plan) {
  WantedOf wanted;
  plan.local_begin.push_back(0);
  for (int b = 0; b < graph.n_local(); ++b) {
    const BoxGraph g = graph.box(b);
    bool remote = false;
    for (std::size_t q = 0; q < g.halo.groups().size(); ++q) {
      const HaloGroup& group = g.halo.groups()[q];
      const auto vofs = g.halo.vofs_of_group(q);
      const std::int64_t to = graph.slot_begin(b) + g.n_own + group.begin;
      const int source = graph.local(group.box);
      if (source >= 0) {
        plan.local.push_back({to, graph.slot_begin(source), vofs.data() - graph.halo_vofs().data(),
                              static_cast<std::int32_t>(vofs.size())});
      } else {
        wanted[graph.layout().owner(group.box)].push_back({b, to, group.box, vofs});
        remote = true;
      }
    }
    plan.local_begin.push_back(plan.local.size());
    (remote ? plan.boundary : plan.interior).push_back(b);
  }
  return wanted;
}

/// A request: for each group the layout box, the number of VoFs, and the VoFs.
std::vector<Message> ask(const WantedOf& wanted) {
  std::vector<Message> requests;
  for (const auto& [rank, groups] : wanted) {
    ByteWriter out;
    for (const Wanted& w : groups) {
      out.put(w.source);
      out.put(static_cast<std::int32_t>(w.vof.size()));
      out.put(w.vof);
    }
    requests.push_back({rank, out.take()});
  }
  return requests;
}

/// Peers are those that ask and those that are asked; which parts are sent to them.
void list_sends(const LevelGraph& graph, const WantedOf& wanted, const std::vector<Message>& requests, HaloPlan& plan) {
  std::map<int, const Message*> request_of;
  for (const auto& [rank, groups] : wanted) request_of[rank] = nullptr;
  for (const Message& request : requests) request_of[request.rank] = &request;
  std::vector<std::uint16_t> vofs;
  plan.sends_begin.push_back(0);
  for (const auto& [rank, request] : request_of) {
    const std::size_t begin = vofs.size();
    for (ByteReader in(request == nullptr ? std::span<const std::byte>{} : request->bytes); !in.at_end();) {
      const int box = graph.local(in.get<std::int64_t>());
      assert(box >= 0);
      const auto list = std::ssize(vofs);
      const auto count = in.get<std::int32_t>();
      plan.sends.push_back({list - static_cast<std::int64_t>(begin), graph.slot_begin(box), list, count});
      for (std::int32_t t = 0; t < count; ++t) {
        vofs.push_back(in.get<std::uint16_t>());
        assert(vofs.back() < graph.slots()->n_own(box));
      }
    }
    plan.sends_begin.push_back(plan.sends.size());
    plan.peers.push_back({rank, begin, vofs.size()});
  }
  plan.send_vofs = Array<std::uint16_t>(vofs.size(), Purpose::connectivity);
  std::copy(vofs.begin(), vofs.end(), plan.send_vofs.begin());
}

/// Which parts of messages go into which boxes.
void list_receives(int n_local, const WantedOf& wanted, HaloPlan& plan) {
  std::vector<std::vector<HaloPlan::Received>> into(n_local);
  plan.n_messages.assign(into.size(), 0);
  plan.readers_begin.push_back(0);
  std::size_t n_received = 0;
  for (std::size_t p = 0; p < plan.peers.size(); ++p) {
    plan.peers[p].receive_begin = n_received;
    if (const auto at = wanted.find(plan.peers[p].rank); at != wanted.end()) {
      int last = -1;
      for (const Wanted& w : at->second) {
        into[w.target].push_back({w.to, static_cast<std::int64_t>(n_received - plan.peers[p].receive_begin),
                                  static_cast<std::int32_t>(w.vof.size()), static_cast<std::int32_t>(p)});
        n_received += w.vof.size();
        if (w.target == last) continue;
        last = w.target;
        plan.readers.push_back(last);
        ++plan.n_messages[last];
      }
    }
    plan.peers[p].receive_end = n_received;
    plan.readers_begin.push_back(plan.readers.size());
  }
  plan.receives_begin.push_back(0);
  for (const auto& parts : into) {
    plan.receives.insert(plan.receives.end(), parts.begin(), parts.end());
    plan.receives_begin.push_back(plan.receives.size());
  }
}

}  // namespace

HaloPlan make_halo_plan(const Comm& comm, const LevelGraph& graph) {
  HaloPlan plan;
  const WantedOf wanted = find_sources(graph, plan);
  list_sends(graph, wanted, comm.sparse_exchange(ask(wanted)), plan);
  list_receives(graph.n_local(), wanted, plan);
  return plan;
}

}  // namespace karst
