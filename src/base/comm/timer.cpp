// SPDX-License-Identifier: BSD-3-Clause
#include "base/comm/timer.hpp"

#include <algorithm>
#include <cassert>
#include <deque>
#include <memory>
#include <mutex>

#include "base/comm/parallel.hpp"
#include "base/comm/timer_node.hpp"
#include "base/comm/trace.hpp"

namespace karst {

namespace detail {

namespace {

std::mutex& registry_mutex() {
  static std::mutex mutex;
  return mutex;
}

/// The trees outlive their threads: what a thread measured stays.
struct Registry {
  std::deque<std::unique_ptr<TimerTree>> trees;
  ClockPair start;  // of the first timer
};
Registry& registry_and_start() {
  static Registry r;
  return r;
}
std::deque<std::unique_ptr<TimerTree>>& registry() { return registry_and_start().trees; }

TimerTree* new_tree() {
  const std::lock_guard lock(registry_mutex());
  registry().push_back(std::make_unique<TimerTree>());
  return registry().back().get();
}

thread_local TimerTree* this_tree = nullptr;

TimerTree& tree() {
  if (this_tree == nullptr) this_tree = new_tree();
  return *this_tree;
}

TimerNode& child_of(TimerNode& parent, std::string_view name) {
  TimerNode* last = parent.last_used;
  if (last != nullptr && last->name == name) return *last;
  for (const auto& c : parent.children) {
    if (c->name == name) return *(parent.last_used = c.get());
  }
  parent.children.push_back(std::make_unique<TimerNode>());
  TimerNode& added = *parent.children.back();
  added.name = name;
  added.parent = &parent;
  parent.last_used = &added;
  return added;
}

/// The node of this tree at the same path as a node of another tree.
TimerNode& same_path(TimerNode& root, const TimerNode* other) {
  return other->parent == nullptr ? root : child_of(same_path(root, other->parent), other->name);
}

/// Sets where the timers of this thread count, when it runs none of its own.
void move_under(TimerTree& t, const TimerNode* place) {
  t.under = place;
  t.current = &t.root;
  t.placed = place == nullptr;
}

/// The place is looked up by the first timer only: most loops run none.
void look_up_place(TimerTree& t) {
  t.current = &same_path(t.root, t.under);
  t.placed = true;
}

}  // namespace

std::uint32_t traced_name(TimerNode& node) {
  if (node.traced_name < 0) node.traced_name = trace::number_of(node.name);
  return static_cast<std::uint32_t>(node.traced_name);
}

bool begin_share(const TimerNode* place, bool is_own) {
  static const std::uint32_t own = trace::number_of("own time"), other = trace::number_of("share");
  if (is_own) return trace::begin(own);
  if (place == nullptr || place->parent == nullptr) return trace::begin(other);
  // Where the trace was begun inside of that timer its number is not known: it is not this thread's to note it.
  return trace::begin(place->traced_name >= 0 ? static_cast<std::uint32_t>(place->traced_name)
                                              : trace::number_of(place->name));
}

std::deque<std::unique_ptr<TimerTree>>& timer_trees() { return registry(); }
TimerTree& tree_of_this_thread() { return tree(); }

double tick() { return seconds_per_tick(registry_and_start().start); }

const TimerNode* running_timer() {
  if (this_tree == nullptr) return nullptr;
  return this_tree->placed ? this_tree->current : this_tree->under;
}

TimersUnder::TimersUnder(const TimerNode* place) : before_(nullptr) {
  if (this_tree == nullptr && place == nullptr) return;
  TimerTree& t = tree();
  before_ = t.under;
  move_under(t, place);
}

TimersUnder::~TimersUnder() {
  if (this_tree != nullptr) move_under(*this_tree, before_);
}

}  // namespace detail

Timer::Timer(std::string_view name) {
  detail::TimerTree& t = detail::tree();
  if (!t.placed) detail::look_up_place(t);
  detail::TimerNode& node = detail::child_of(*t.current, name);
  t.current = &node;
  node_ = &node;
  if (trace::on) [[unlikely]]
    traced_ = trace::begin(detail::traced_name(node));
  if (t.under == nullptr) node.sent_before = traffic();  // the others, in a parallel loop, do not communicate
  node.begin = detail::ticks_now();
}

void Timer::stop() {
  if (node_ == nullptr) return;
  const auto end = detail::ticks_now();
  detail::TimerTree& t = *detail::this_tree;
  assert(t.current == node_ && "timers stop in the reverse order of their start, on the thread that started them");
  node_->time += end - node_->begin;
  ++node_->calls;
  if (t.under == nullptr) node_->sent += traffic() - node_->sent_before;
  t.current = node_->parent;
  if (traced_) [[unlikely]]
    trace::end();
  node_ = nullptr;
}

double Timer::seconds() const {
  if (node_ == nullptr) return 0.0;
  return static_cast<double>(detail::ticks_now() - node_->begin) * detail::tick();
}

namespace {

void add_spent(const detail::TimerNode& node, std::span<const std::string_view> names, Spent& sum) {
  for (const auto& c : node.children) {
    if (std::ranges::find(names, c->name) == names.end()) {
      add_spent(*c, names, sum);
      continue;
    }
    sum.seconds += static_cast<double>(c->time) * detail::tick();
    sum.sent += c->sent;
  }
}

}  // namespace

Spent spent_in(std::span<const std::string_view> names) {
  Spent sum;
  add_spent(detail::tree().root, names, sum);
  return sum;
}

namespace {

void begin_step(detail::TimerNode& node) {
  node.in_steps.before = node.time;
  for (const auto& c : node.children) begin_step(*c);
}

void end_step(detail::TimerNode& node) {
  detail::StepSums& s = node.in_steps;
  if (const detail::Ticks took = node.time - s.before; took > 0) {
    s.least = std::min(s.least, took);
    s.most = std::max(s.most, took);
    s.sum += static_cast<double>(took);
    s.squares += static_cast<double>(took) * static_cast<double>(took);
    ++s.steps;
  }
  for (const auto& c : node.children) end_step(*c);
}

}  // namespace

void begin_timed_step() {
  detail::TimerTree& t = detail::tree();
  assert(t.current == &t.root && "begin_timed_step: a timer runs");
  begin_step(t.root);
}

void end_timed_step() {
  detail::TimerTree& t = detail::tree();
  assert(t.current == &t.root && "end_timed_step: a timer runs");
  end_step(t.root);
  ++t.steps;
}

void reset_timers() {
  const std::lock_guard lock(detail::registry_mutex());
  for (const auto& t : detail::registry()) {
    assert(t->current == &t->root && "reset_timers: a timer runs");
    t->root.children.clear();
    t->root.last_used = nullptr;
    t->steps = 0;
  }
}

}  // namespace karst
