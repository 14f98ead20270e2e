// SPDX-License-Identifier: BSD-3-Clause
#include "grid/halo_plan.hpp"

#include <cassert>
#include <map>

#include "grid/bytes.hpp"

namespace karst {
namespace {

/// Parts to receive per rank, in the order of the target boxes.
using Wanted = std::map<int, std::vector<HaloPlan::Copy>>;

/// Splits the halo groups of all own boxes into local copies and parts wanted from other ranks.
Wanted find_sources(const LevelGraph& graph, HaloPlan& plan) {
  Wanted wanted;
  plan.local_begin.push_back(0);
  for (int b = 0; b < graph.n_local(); ++b) {
    const BoxGraph g = graph.box(b);
    bool remote = false;
    for (std::size_t q = 0; q < g.halo.groups().size(); ++q) {
      const HaloGroup& group = g.halo.groups()[q];
      const auto vofs = g.halo.vofs_of_group(q);
      HaloPlan::Copy copy{};
      copy.to = graph.slot_begin(b) + g.n_own + group.begin;
      copy.list = vofs.data() - graph.halo_vofs().data();
      copy.count = static_cast<std::int32_t>(vofs.size());
      const int source = graph.local(group.box);
      if (source >= 0) {
        copy.from = graph.slot_begin(source);
        copy.box = source;
        plan.local.push_back(copy);
      } else {
        copy.from = group.box;  // until the message is laid out
        copy.box = b;
        wanted[graph.layout().owner(group.box)].push_back(copy);
        remote = true;
      }
    }
    plan.local_begin.push_back(plan.local.size());
    (remote ? plan.boundary : plan.interior).push_back(b);
  }
  return wanted;
}

HaloPlan::Peer& peer_of(std::map<int, HaloPlan::Peer>& peers, int rank) {
  HaloPlan::Peer& p = peers[rank];
  p.rank = rank;
  return p;
}

/// A request: for each part the layout box, the number of VoFs, and the VoFs.
std::vector<Message> ask(const LevelGraph& graph, Wanted& wanted, HaloPlan& plan,
                         std::map<int, HaloPlan::Peer>& peers) {
  std::vector<Message> requests;
  for (auto& [rank, parts] : wanted) {
    HaloPlan::Peer& peer = peer_of(peers, rank);
    peer.receive_begin = plan.receives.size();
    ByteWriter out;
    for (HaloPlan::Copy& part : parts) {
      out.put(part.from);
      out.put(part.count);
      out.put(graph.halo_vofs().subspan(static_cast<std::size_t>(part.list), static_cast<std::size_t>(part.count)));
      part.from = peer.n_receive;
      peer.n_receive += part.count;
      plan.receives.push_back(part);
    }
    peer.receive_end = plan.receives.size();
    requests.push_back({rank, out.take()});
  }
  return requests;
}

void answer(const LevelGraph& graph, const std::vector<Message>& requests, HaloPlan& plan,
            std::map<int, HaloPlan::Peer>& peers) {
  std::vector<std::uint16_t> vofs;
  for (const Message& request : requests) {
    HaloPlan::Peer& peer = peer_of(peers, request.rank);
    peer.send_begin = plan.sends.size();
    ByteReader in(request.bytes);
    while (!in.at_end()) {
      HaloPlan::Copy part{};
      const int box = graph.local(in.get<std::int64_t>());
      assert(box >= 0);
      part.from = graph.slot_begin(box);
      part.box = box;
      part.count = in.get<std::int32_t>();
      part.list = std::ssize(vofs);
      part.to = peer.n_send;
      peer.n_send += part.count;
      for (std::int32_t t = 0; t < part.count; ++t) {
        vofs.push_back(in.get<std::uint16_t>());
        assert(vofs.back() < graph.slots()->n_own(box));
      }
      plan.sends.push_back(part);
    }
    peer.send_end = plan.sends.size();
  }
  plan.send_vofs = Array<std::uint16_t>(vofs.size(), Purpose::connectivity);
  std::copy(vofs.begin(), vofs.end(), plan.send_vofs.begin());
}

}  // namespace

HaloPlan make_halo_plan(const Comm& comm, const LevelGraph& graph) {
  HaloPlan plan;
  std::map<int, HaloPlan::Peer> peers;
  Wanted wanted = find_sources(graph, plan);
  const std::vector<Message> requests = comm.sparse_exchange(ask(graph, wanted, plan, peers));
  answer(graph, requests, plan, peers);
  for (const auto& [rank, peer] : peers) plan.peers.push_back(peer);
  return plan;
}

}  // namespace karst
