// SPDX-License-Identifier: BSD-3-Clause
#include "app/reaction/reactive_run.hpp"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <numeric>

#include "app/job/feedback_balance.hpp"
#include "app/output/vof_values.hpp"
#include "app/output/wall_surface.hpp"
#include "base/comm/fail_together.hpp"
#include "base/file/log.hpp"
#include "base/math/no_number.hpp"
#include "transport/reactive/speciate_volumes.hpp"

namespace karst {

namespace {

constexpr double short_step = 0.3;  ///< D dt / h² up to which walls that react in turn are within 0.1 %

/// Of each piece of wall the part of each mineral of the deck.
std::function<void(const WallPiece&, std::span<double>)> covered_walls(const JobContext& run) {
  return [parts = covered_parts(run.config, run.geometry())](const WallPiece& piece, std::span<double> fraction) {
    for_each_mineral(piece, [&](MineralNumber number, double of_area) {
      for (std::size_t m = 0; m < fraction.size(); ++m) fraction[m] += of_area * parts.at(number)[m];
    });
  };
}

}  // namespace

ReactiveRun::ReactiveRun(const JobContext& run, const TransportStepper& stepper, const Probes& probes)
    : run_(run), plan_(*run.config.reactive), grid_(stepper.grid()), probes_(probes) {
  const double h = run.grid.cell_width();
  const std::vector<MineralDeck>& minerals = run.config.chemistry.minerals;
  if (!plan_.left_out.empty()) log_detail("{}", plan_.left_out);
  moles_ = plan_.water * h * h * h;
  for (std::int64_t v = 0; v < grid_.n_own; ++v) fluid_ += grid_.volume[v];
  fluid_ = run.comm.sum(fluid_);
  if (std::ranges::any_of(minerals, [](const MineralDeck& m) { return !m.wall.empty(); }))
    places_.push_back({wall_sites(grid_, minerals.size(),
                                  {run.config.transport.diffusivity / (h * h), h, plan_.water, true,
                                   fixed_sides(stepper.components().at(plan_.first))},
                                  covered_walls(run)),
                       {},
                       {},
                       true,
                       {}});
  if (const std::vector<double> covers = covers_of(run.config); !covers.empty())
    set_deposits(covers, places_.front().sites);
  if (plan_.bulk)
    places_.push_back({volume_sites(grid_, plan_.bulk->minerals.area, plan_.bulk->minerals.amount), {}, {}, false, {}});
  area_.assign(plan_.reactions().size(), 0.0);
  for (Place& place : places_) {
    place.state = start_reaction(medium_of(place), place.sites);
    for (std::size_t s = 0; s < place.sites.size(); ++s)
      for (std::size_t m = 0; m < place.sites.n_minerals; ++m)
        if (!plan_.reactions()[m].at_once())
          area_[m] += place.sites.area_of(s, m) * moles_ * grid_.volume[place.sites.volume[s]];
  }
  run.comm.sum(std::span<double>(area_));
  past_.mean = past_.outlet = plan_.medium.start;
  cell_width_ = h;
  past_.line.minerals.resize(plan_.reactions().size());
  fields_ = all_fields();
  probed_.probes = run.config.output.probes;
  for (const Field& field : fields_) probed_.fields.push_back({field.name});
  past_.line.probes.resize(probed_.size());
}

/// Columns of chemistry.csv.
void ReactiveRun::each_column(const ReactiveLine& line, auto&& reader) const {
  const std::vector<std::string> minerals = mineral_names();
  const std::vector<std::string>& elements = plan_.medium.system.elements;
  each_of_time(line, reader(""));
  for (std::size_t m = 0; m < minerals.size(); ++m) each_of_mineral(line, m, reader(minerals[m] + '_'));
  each_of_water(line, reader(""));
  for (std::size_t p = 0; p < elements.size(); ++p) each_of_element(line, p, sorbents(), reader(elements[p] + '_'));
  each_of_step(line, reader(""));
  probed_.each_column(line.probes, reader(""));
  reader("")(Quantity{"pore_volumes", "", shown::csv}, double{line.pore_volumes});
  for (std::size_t p = 0; p < elements.size(); ++p) each_of_ledger(line, p, walls_move(), reader(elements[p] + '_'));
}

std::string ReactiveRun::csv_header() const {
  ReactiveLine any = past_.line;  // with as many minerals
  any.outlet.saturation.resize(any.minerals.size());
  any.mean.saturation.resize(any.minerals.size());
  return csv_head_of([&](auto&& reader) { each_column(any, reader); });
}

void ReactiveRun::add_items(const VofSet& unknowns, State& state) const {
  state.numbers["chemistry"] = past_json(past_);
  for (const Place& place : places_)
    karst::add_items(medium_of(place), place.sites, unknowns, place.name(), place.state,
                     place.walls ? &coupled_ : nullptr, state);
}

void ReactiveRun::take_items(const State& state, const VofSet& unknowns, const TransportState& transport) {
  fail_together(run_.comm, [&] {
    take_past(state.numbers.at("chemistry"), past_);
    for (Place& place : places_)
      karst::take_items(state, medium_of(place), place.sites, unknowns, place.name(), place.state,
                        place.walls ? &coupled_ : nullptr);
  });
  find_contents(transport, content_, size_);
}

std::span<const Array<double>> ReactiveRun::totals(const TransportState& state) const {
  return std::span(state.values).subspan(plan_.first, plan_.initial.size());
}

/// [m]
double ReactiveRun::finest_width() const {
  return run_.grid.cell_width() * Composite::width(static_cast<int>(run_.geometry().levels.size()) - 1);
}

/// Σ V T and Σ V |T|, [mol/kgw h0³].
void ReactiveRun::find_contents(const TransportState& state, std::vector<double>& content,
                                std::vector<double>& size) const {
  const std::size_t n = plan_.initial.size();
  std::vector<double> sums(2 * n);
  for (std::size_t p = 0; p < n; ++p) {
    const double* const c = totals(state)[p].data();
    sums[p] = parallel_sum(grid_.n_own, [&](std::int64_t v) { return grid_.volume[v] * c[v]; });
    sums[n + p] = parallel_sum(grid_.n_own, [&](std::int64_t v) { return grid_.volume[v] * std::abs(c[v]); });
  }
  run_.comm.sum(std::span<double>(sums));
  content.assign(sums.begin(), sums.begin() + n);
  size.assign(sums.begin() + n, sums.end());
}

void ReactiveRun::start(const TransportState& state) {
  find_contents(state, content_, size_);
  past_.worst.imbalance.assign(content_.size(), 0.0);
  past_.line.imbalance = past_.worst.imbalance;
  ElementLedger& ledger = past_.line.ledger;
  for (std::vector<double>* sum : {&ledger.in, &ledger.out, &ledger.released, &ledger.by_walls, &ledger.inflow})
    sum->assign(content_.size(), 0.0);
  ledger.start = content_;
  for (double& x : ledger.start) x *= moles_;
  for (MineralLine& m : past_.line.minerals) m.rate = no_number;
  find_amounts();
  compare_with_well_mixed(state);
}

/// Minerals at walls react within the step of this length.
bool ReactiveRun::couples(double dt) const {
  const WallCoupling asked = run_.config.chemistry.walls;
  const double h = finest_width();
  return asked == WallCoupling::coupled ||
         (asked == WallCoupling::as_needed && run_.config.transport.diffusivity * dt > short_step * h * h);
}

void ReactiveRun::keep() {
  for (Place& place : places_) keep_sites(place.state, place.walls ? &coupled_ : nullptr, place.before);
  past_before_ = {past_, past_.history.size()};
  content_before_ = content_;
  size_before_ = size_;
  halved_ = false;
}

void ReactiveRun::give_back() {
  for (Place& place : places_) {
    give_sites_back(place.before, place.state, place.walls ? &coupled_ : nullptr);
    place.phreeqc.reset();  // made again from what is left
  }
  static_cast<ReactiveNow&>(past_) = past_before_.now;
  past_.history.resize(past_before_.n_history);
  content_ = content_before_;
  size_ = size_before_;
}

void ReactiveRun::forget_steps() {
  for (Place& place : places_) place.before = {};
  totals_before_ = {};
}

void ReactiveRun::give_totals_back(TransportStepper& stepper, TransportState& state) const {
  if (!halved_) return;
  const std::span<Array<double>> totals = std::span(state.values).subspan(plan_.first, plan_.initial.size());
  const double* from = totals_before_.data();
  for (const std::int32_t v : places_.front().sites.volume)
    for (Array<double>& total : totals) total[v] = *from++;
  for (Array<double>& total : totals) fetch_remote(stepper.grid(), total.span());
}

/// Of the first place, before the first half of a step.
void ReactiveRun::keep_totals(std::span<const Array<double>> totals) {
  const std::vector<std::int32_t>& volume = places_.front().sites.volume;
  totals_before_.resize(volume.size() * totals.size());
  double* to = totals_before_.data();
  for (const std::int32_t v : volume)
    for (const Array<double>& total : totals) *to++ = total[v];
  halved_ = true;
}

/// Walls that react in turn: half of the step before the transport, half behind it. What is in volumes reacts behind
/// it: equilibria and what is as good as one have no halves.
void ReactiveRun::step(TransportStepper& stepper, TransportState& state, double dt, double carried,
                       TransportReport& moved) {
  const std::span<Array<double>> totals = std::span(state.values).subspan(plan_.first, plan_.initial.size());
  const auto take_changes = [&] {
    for (std::size_t p = 0; p < totals.size(); ++p) stepper.take_changes(state, plan_.first + p);
  };
  past_.line.solved = past_.line.kept = past_.line.speciations = 0;
  const std::vector<MineralLine> before = past_.line.minerals;
  for (MineralLine& m : past_.line.minerals) m.rate = 0.0;
  const bool walls = !places_.empty() && places_.front().walls, together = walls && couples(dt);
  const bool halves = walls && !together;
  ReactionReport first;
  std::ranges::fill(taken_, 0.0);
  step_ = dt;
  const double spread = 2.0 * run_.config.transport.diffusivity / (cell_width_ * cell_width_);
  crossing_ = carried > 0.0 ? 1.0 / (carried / fluid_ + spread) : 0.0;
  if (halves) {
    if (!halved_) keep_totals(totals);
    react_first_half(places_.front(), dt, totals);
    note_taken(places_.front(), 0.5 * dt);
    first = places_.front().report;
    add(places_.front(), dt);
    take_changes();
  }
  const std::int64_t in_turn = coupled_.counts.in_turn;
  if (together) {
    cover_surfaces(places_.front().state.amount, places_.front().state.rate, 0.5 * dt, places_.front().sites);
    advance_coupled({plan_.medium, places_.front().sites, plan_.first, {run_.config.chemistry.skip, 1.0, crossing_}},
                    stepper, dt, places_.front().state, state, coupled_, moved, places_.front().report);
  } else {
    stepper.advance(state, dt, moved);
  }
  if (walls && (!together || coupled_.counts.in_turn > in_turn)) {
    const double h = finest_width();
    past_.longest = std::max(past_.longest, run_.config.transport.diffusivity * dt / (h * h));
  }
  for (Place& place : places_) {
    if (!(place.walls && together)) {
      react(place, dt, place.walls ? 0.5 : 1.0, totals);
      take_changes();
    }
    if (place.walls) note_taken(place, together ? dt : 0.5 * dt);
    add(place, dt);
    for (std::size_t p = 0; place.walls && halves && p < totals.size(); ++p) place.report.gained[p] += first.gained[p];
  }
  find_amounts();
  balance(state, moved);
  forget_errors(before);
  compare_with_well_mixed(state);
}

/// Where nothing comes in or goes out, all goes to one equilibrium, however it was reached: what is wrong with the
/// dissolved amount decays as the rate does.
void ReactiveRun::forget_errors(std::span<const MineralLine> before) {
  const auto nothing = [](double amount) { return amount == 0.0; };
  const ElementLedger& ledger = past_.line.ledger;
  if (!std::ranges::all_of(ledger.in, nothing) || !std::ranges::all_of(ledger.out, nothing)) return;
  for (std::size_t m = 0; m < before.size(); ++m) {
    MineralLine& now = past_.line.minerals[m];
    if (const double was = before[m].rate; std::abs(now.rate) < std::abs(was))
      now.time_error -= (1.0 - std::abs(now.rate / was)) * std::min(before[m].time_error, now.time_error);
  }
}

/// The rates of the last solve have acted for a time.
void ReactiveRun::note_taken(const Place& place, double time) {
  taken_.resize(place.state.rate.size(), 0.0);
  for (std::size_t i = 0; i < taken_.size(); ++i) taken_[i] += time * place.state.rate[i];
}

void ReactiveRun::add_work(const CompositeNumbering& numbering, std::vector<BoxWork>& kinds) const {
  for (const Place& place : places_) {
    std::vector<double> solves(numbering.n_own(), 0.0);
    for (std::size_t site = 0; site < place.sites.size(); ++site)
      solves[place.sites.volume[site]] += static_cast<double>(place.state.cost[site] + 1);
    kinds.push_back({sums_of_boxes(numbering, run_.geometry(), solves), place.state.seconds});
  }
}

/// The rates that the step before has found for both halves, where they are of a step as long; else those of a solve.
void ReactiveRun::react_first_half(Place& place, double dt, std::span<Array<double>> totals) {
  constexpr double same = 1.0 + 1e-9;
  if (place.state.dt > 0.0 && dt <= same * place.state.dt)
    react_on(medium_of(place), place.sites, grid_, 0.5 * dt, place.state, totals, place.report);
  else
    react(place, 0.5 * dt, 1.0, totals);
}

/// @param now  part of dt that rates act now
void ReactiveRun::react(Place& place, double dt, double now, std::span<Array<double>> totals) {
  const ReactiveMedium& medium = medium_of(place);
  cover_surfaces(place.state.amount, place.state.rate, 0.0, place.sites);  // half of the step has acted already
  assert(!plan_.phreeqc || now == 1.0);  // its decks have no walls, which alone react in halves
  if (plan_.phreeqc)
    react_with_phreeqc(*plan_.phreeqc, place.phreeqc, {medium, place.sites, grid_}, dt, place.state, totals,
                       place.report);
  else
    karst::react(medium, place.sites, grid_, dt, {run_.config.chemistry.skip, now, crossing_}, place.state, totals,
                 place.report);
}

void ReactiveRun::add(const Place& place, double dt) {
  past_.line.solved += place.report.solved;
  past_.line.kept += place.report.kept;
  past_.line.speciations += place.report.speciations;
  for (std::size_t m = 0; m < place.report.dissolved.size(); ++m) {
    past_.line.minerals[m].rate += moles_ * place.report.dissolved[m] / dt;
    past_.line.minerals[m].dissolved += moles_ * place.report.dissolved[m];
    double& error = past_.line.minerals[m].time_error;
    error = std::max(0.0, error + moles_ * place.report.time_error[m]);  // what is taken back may leave round-off
  }
}

/// Balances of the totals with what reacted: transport alone knows the state between.
/// @param content  [primary] now; `content_` is that before the step
void ReactiveRun::note_reactions(const TransportState& state, std::span<const double> content,
                                 TransportReport& moved) const {
  std::vector<double> extremes;  // -least, largest of each
  for (const Array<double>& total : totals(state)) {
    const double* const c = total.data();
    extremes.push_back(parallel_max(grid_.n_own, [&](std::int64_t v) { return -c[v]; }));
    extremes.push_back(parallel_max(grid_.n_own, [&](std::int64_t v) { return c[v]; }));
  }
  run_.comm.max(std::span(extremes));
  for (std::size_t p = 0; p < content.size(); ++p) {
    ComponentBalance& b = moved.components[plan_.first + p];
    double walls = b.source, volumes = 0.0;  // totals have no source but that of coupled walls
    for (const Place& place : places_) (place.walls ? walls : volumes) += place.report.gained[p];
    b.wall = -walls;
    b.source = volumes;
    b.stored = content[p] - content_[p];
    b.content = content[p];
    b.least = -extremes[2 * p];
    b.largest = extremes[2 * p + 1];
    const double all = std::abs(b.inflow) + std::abs(b.outflow) + std::abs(b.wall) + std::abs(b.source);
    const double size = std::max({all, std::abs(content[p]), std::abs(content_[p])});
    b.imbalance = size > 0.0 ? std::abs(b.inflow - b.outflow - b.wall + b.source - b.stored) / size : 0.0;
  }
}

/// Before the content of a step takes the place of that of the one before.
void ReactiveRun::add_to_ledger(const ComponentBalance& step, std::size_t primary) {
  ElementLedger& ledger = past_.line.ledger;
  ledger.in[primary] += moles_ * step.inflow;
  ledger.out[primary] += moles_ * step.outflow;
  ledger.released[primary] += moles_ * (step.source - step.wall);
  const std::vector<double>& before = past_.line.content.empty() ? ledger.start : past_.line.content;
  ledger.by_walls[primary] += moles_ * content_[primary] - before[primary];
  ledger.inflow[primary] = moles_ * step.inflow / step_;
}

/// Contents before and after the step against what came in, went out and was dissolved.
void ReactiveRun::balance(const TransportState& state, TransportReport& moved) {
  std::vector<double> now, size;
  find_contents(state, now, size);
  note_reactions(state, now, moved);
  double charge_left = 0.0, charge_size = 0.0;
  past_.line.charge = 0.0;
  for (std::size_t p = 0; p < now.size(); ++p) add_to_ledger(moved.components[plan_.first + p], p);
  past_.line.content.assign(now.size(), 0.0);
  past_.line.sorbed.assign(sorbs() ? now.size() : 0, 0.0);
  for (std::size_t p = 0; p < now.size(); ++p) {
    const ComponentBalance& b = moved.components[plan_.first + p];
    for (const Place& place : places_)
      if (!place.report.sorbed.empty()) past_.line.sorbed[p] = moles_ * place.report.sorbed[p];
    const double left = b.inflow - b.outflow - b.wall + b.source - b.stored;
    const double there = std::max(
        {std::abs(b.inflow) + std::abs(b.outflow) + std::abs(b.wall) + std::abs(b.source), size[p], size_[p], 1e-300});
    past_.line.imbalance[p] = std::abs(left) / there;
    past_.line.content[p] = moles_ * now[p];
    const double z = plan_.medium.system.species[p].charge / plan_.medium.system.atoms[p];
    past_.line.charge += z * past_.line.content[p];
    charge_left += z * left;
    charge_size += std::abs(z) * there;
    past_.worst.imbalance[p] = std::max(past_.worst.imbalance[p], past_.line.imbalance[p]);
  }
  past_.line.charge_imbalance = charge_size > 0.0 ? std::abs(charge_left) / charge_size : 0.0;
  past_.worst.charge_imbalance = std::max(past_.worst.charge_imbalance, past_.line.charge_imbalance);
  past_.worst.solved += past_.line.solved;
  past_.worst.kept += past_.line.kept;
  past_.worst.speciations += past_.line.speciations;
  content_ = now;
  size_ = size;
}

/// @param[in,out] state  where the search begins, and what it finds
WaterLine ReactiveRun::water_of(std::span<const double> totals, Speciation& state) const {
  const ChemicalSystem& system = plan_.medium.system;
  WaterLine water;
  water.saturation.assign(plan_.reactions().size(), no_number);
  std::vector<SolutionCondition> conditions;
  for (const double t : totals) conditions.push_back({SolutionCondition::Kind::total, t});
  SpeciationWorkspace work;
  if (!std::ranges::all_of(totals, [](double t) { return std::isfinite(t); }) ||
      !speciate(system, conditions, state, work)) {
    state = plan_.medium.start;
    return water;
  }
  water.ph = ph_of(state);
  for (std::size_t m = 0; m < water.saturation.size(); ++m)
    water.saturation[m] = saturation_index(system, state, plan_.reactions()[m].mineral.phase);
  return water;
}

/// The mean solution and its rates on all surfaces.
void ReactiveRun::compare_with_well_mixed(const TransportState& state) {
  std::vector<double> content, size;
  find_contents(state, content, size);
  for (double& c : content) c /= fluid_;
  past_.line.mean = water_of(content, past_.mean);
  for (std::size_t m = 0; m < past_.line.minerals.size(); ++m) {
    const SurfaceReaction& r = plan_.reactions()[m];
    past_.line.minerals[m].well_mixed = std::isfinite(past_.line.mean.ph) && !r.at_once()
                                            ? area_[m] * dissolution_rate(plan_.medium.system, past_.mean, r.mineral)
                                            : no_number;
  }
}

void ReactiveRun::see(double time, double pore_volumes, std::span<const double> outlet, const TransportState& state) {
  past_.line.time = time;
  past_.line.pore_volumes = pore_volumes;
  const auto of_totals = outlet.subspan(plan_.first, plan_.initial.size());
  const std::vector<double> totals(of_totals.begin(), of_totals.end());
  past_.line.outlet = water_of(totals, past_.outlet);
  const std::vector<std::int32_t> volumes = probes_.unknowns();
  const std::vector<std::vector<double>> values = values_in(volumes, state);
  past_.line.probes = probes_.values(run_.comm, values.size(), [&](std::int32_t unknown, std::size_t f) {
    return values[f][std::ranges::lower_bound(volumes, unknown) - volumes.begin()];
  });
}

std::string ReactiveRun::csv_line() const {
  return csv_line_of([&](auto&& reader) { each_column(past_.line, reader); });
}

std::vector<std::string> ReactiveRun::mineral_names() const {
  std::vector<std::string> names;
  for (const SurfaceReaction& r : plan_.reactions()) names.push_back(r.mineral.name);
  return names;
}

std::vector<std::string> ReactiveRun::drawn_fields() const {
  std::vector<std::string> names;  // pH, and a saturation index per mineral
  for (std::size_t f = 0; f < 1 + plan_.reactions().size(); ++f) names.push_back(fields_[f].name);
  return names;
}

bool ReactiveRun::sorbs(std::size_t primary) const { return karst::sorbs(plan_, primary); }

std::vector<ReactiveRun::Field> ReactiveRun::all_fields() const {
  std::vector<Field> all;
  const ChemicalSystem& system = plan_.medium.system;
  const auto add_of_water = [&](const std::string& name, std::function<double(const Speciation&)> value) {
    all.push_back({name, [value](std::size_t, const Speciation* s) { return s != nullptr ? value(*s) : no_number; }});
  };
  add_of_water("pH", ph_of);
  for (const SurfaceReaction& r : plan_.reactions())
    add_of_water("saturation_index_" + r.mineral.name,
                 [&](const Speciation& s) { return saturation_index(system, s, r.mineral.phase); });
  for (const int i : plan_.species)
    add_of_water("molality_" + system.species[i].name, [i](const Speciation& s) { return s.molality[i]; });
  const std::vector<MineralDeck>& deck = run_.config.chemistry.minerals;
  for (std::size_t m = 0; m < deck.size(); ++m)
    if (deck[m].deposit)
      all.push_back({"deposit_" + deck[m].options.name,
                     [this, m](std::size_t v, const Speciation*) { return thickness_at(v, m); }});
  if (!plan_.bulk) return all;
  const auto add_of_sites = [&](const std::string& name, const std::vector<double>& values, std::size_t n,
                                std::size_t k) {  // a site in every volume
    all.push_back({name, [&values, n, k](std::size_t v, const Speciation*) { return values[v * n + k]; }});
  };
  const ReactionState& state = places_.back().state;
  const std::size_t n_minerals = plan_.reactions().size(), n_totals = plan_.initial.size();
  for (std::size_t m = 0; m < n_minerals; ++m)
    if (m >= deck.size() || deck[m].wall.empty())
      add_of_sites("mineral_" + plan_.reactions()[m].mineral.name, state.amount, n_minerals, m);
  for (std::size_t p = 0; p < n_totals; ++p)
    if (sorbs(p)) add_of_sites("sorbed_" + plan_.medium.system.elements[p], state.sorbed, n_totals, p);
  return all;
}

/// [field][volume]
std::vector<std::vector<double>> ReactiveRun::values_in(std::span<const std::int32_t> volumes,
                                                        const TransportState& state) const {
  std::vector<std::vector<double>> values(fields_.size(), std::vector<double>(volumes.size()));
  speciate_volumes(plan_.medium, volumes, totals(state), [&](std::size_t i, const Speciation* water) {
    for (std::size_t f = 0; f < fields_.size(); ++f) values[f][i] = fields_[f].value(volumes[i], water);
  });
  return values;
}

std::vector<JobComponent> ReactiveRun::fields(const TransportState& state) const {
  std::vector<std::int32_t> volumes(grid_.n_own);
  std::iota(volumes.begin(), volumes.end(), 0);
  const std::vector<std::vector<double>> values = values_in(volumes, state);
  std::vector<JobComponent> all;
  for (std::size_t f = 0; f < fields_.size(); ++f) {
    all.push_back(concentration_field(run_, fields_[f].name, values[f]));
    all.back().name = fields_[f].name;
    all.back().field = PlotField::chemistry;
  }
  return all;
}

}  // namespace karst
