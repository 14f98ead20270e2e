// SPDX-License-Identifier: BSD-3-Clause
// Numbers for other ranks: sent, or asked for and answered. All functions are collective.
#pragma once

#include <map>
#include <type_traits>
#include <utility>
#include <vector>

#include "base/comm/comm.hpp"
#include "grid/bytes.hpp"

namespace karst {

/// What was written for each rank, as messages in the order of the ranks. Not collective.
inline std::vector<Message> take_messages(std::map<int, ByteWriter> written) {
  std::vector<Message> out;
  for (auto& [rank, w] : written) out.push_back({rank, w.take()});
  return out;
}

/// Calls read(reader, sender) until each message is read to its end.
template <class Read>
void receive(const Comm& comm, std::vector<Message> out, Read&& read) {
  for (const Message& m : comm.sparse_exchange(std::move(out)))
    for (ByteReader in(m.bytes); !in.at_end();) read(in, m.rank);
}

/// Sends what was written for each rank; read(reader, sender) takes one item of what comes.
template <class Read>
void send_to_ranks(const Comm& comm, std::map<int, ByteWriter> written, Read&& read) {
  receive(comm, take_messages(std::move(written)), read);
}

/// Answers to the questions of all ranks: answer(reader, writer) takes one question.
template <class Answer>
std::vector<Message> answers_to(const Comm& comm, std::vector<Message> questions, Answer&& answer) {
  std::vector<Message> answers;
  for (const Message& m : comm.sparse_exchange(std::move(questions))) {
    ByteWriter w;
    for (ByteReader in(m.bytes); !in.at_end();) answer(in, w);
    answers.push_back({m.rank, w.take()});
  }
  return answers;
}

/// Sends the questions written for each rank; answer(reader, writer) answers one of those that come, and
/// read(reader, sender) takes one answer, which says itself what it is about.
template <class Answer, class Read>
void ask_ranks(const Comm& comm, std::map<int, ByteWriter> questions, Answer&& answer, Read&& read) {
  receive(comm, answers_to(comm, take_messages(std::move(questions)), answer), read);
}

/// The same with a question per item: question(item, writer) writes it, and take(item, reader) takes the answer.
template <class Item, class Write, class Answer, class Take>
void ask_ranks_per_item(const Comm& comm, const std::map<int, std::vector<Item>>& of_rank, Write&& question,
                        Answer&& answer, Take&& take) {
  std::map<int, ByteWriter> questions;
  for (const auto& [rank, items] : of_rank)
    for (const Item& item : items) question(item, questions[rank]);
  for (const Message& m : comm.sparse_exchange(answers_to(comm, take_messages(std::move(questions)), answer))) {
    ByteReader in(m.bytes);
    for (const Item& item : of_rank.at(m.rank)) take(item, in);
  }
}

/// Sends lists of values of one type; take(value, sender) gets those that come, by sender. What a rank has for itself
/// is not copied into a message.
template <class T, class Take>
void send_values(const Comm& comm, std::map<int, std::vector<T>> of_rank, Take&& take) {
  std::vector<T> own;
  if (const auto mine = of_rank.find(comm.rank()); mine != of_rank.end())
    own = std::move(of_rank.extract(mine).mapped());
  std::vector<Message> out;
  for (auto& [rank, values] : of_rank) {
    ByteWriter w;
    w.put(std::span<const T>(std::exchange(values, {})));
    out.push_back({rank, w.take()});
  }
  const auto take_own = [&] {
    for (const T& value : own) take(value, comm.rank());
    own = {};
  };
  for (const Message& m : comm.sparse_exchange(std::move(out))) {
    if (m.rank > comm.rank()) take_own();
    for (ByteReader in(m.bytes); !in.at_end();) take(in.get<T>(), m.rank);
  }
  take_own();
}

/// The same with a question per item: ask(item) -> question, answer(question) -> answer, take(item, answer), the last
/// two in the order of the ranks. Questions and answers are values.
template <class Item, class Ask, class Answer, class Take>
void ask_values(const Comm& comm, const std::map<int, std::vector<Item>>& of_rank, Ask&& ask, Answer&& answer,
                Take&& take) {
  using Question = std::decay_t<decltype(ask(std::declval<const Item&>()))>;
  using Reply = std::decay_t<decltype(answer(std::declval<const Question&>()))>;
  std::vector<Message> out;
  for (const auto& [rank, items] : of_rank) {
    if (rank == comm.rank()) continue;
    ByteWriter w;
    for (const Item& item : items) w.put(ask(item));
    out.push_back({rank, w.take()});
  }
  const auto own = of_rank.find(comm.rank());
  std::vector<Reply> replies;
  bool replied = own == of_rank.end();
  const auto reply_to_own = [&] {
    if (!std::exchange(replied, true))
      for (const Item& item : own->second) replies.push_back(answer(ask(item)));
  };
  std::vector<Message> answers;
  for (const Message& m : comm.sparse_exchange(std::move(out))) {
    if (m.rank > comm.rank()) reply_to_own();
    ByteWriter w;
    for (ByteReader in(m.bytes); !in.at_end();) w.put(answer(in.get<Question>()));
    answers.push_back({m.rank, w.take()});
  }
  reply_to_own();
  for (std::size_t i = 0; i < replies.size(); ++i) take(own->second[i], replies[i]);
  for (const Message& m : comm.sparse_exchange(std::move(answers))) {
    ByteReader in(m.bytes);
    for (const Item& item : of_rank.at(m.rank)) take(item, in.get<Reply>());
  }
}

}  // namespace karst
