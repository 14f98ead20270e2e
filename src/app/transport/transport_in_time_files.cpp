// SPDX-License-Identifier: BSD-3-Clause
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "app/job/run_services.hpp"
#include "app/output/concentration_field.hpp"
#include "app/output/field_view.hpp"
#include "app/output/plot_file.hpp"
#include "app/transport/transport_in_time.hpp"
#include "base/core/error.hpp"
#include "base/core/format.hpp"
#include "base/file/json.hpp"
#include "base/file/log.hpp"

namespace karst {

namespace {

const std::string past_name = "transport" + std::string(checkpoint_suffix);
constexpr const char* potential_name = "flow_potential";
constexpr double most_pictures = 6.0;  ///< of output times

}  // namespace

void TransportInTime::write_profiles(double time) {
  const int n = run_.grid.cells[flow_.axis];
  std::vector<std::vector<double>> means;
  for (const auto& values : state_.values) means.push_back(layer_means(stepper_->grid(), values.span(), flow_.axis, n));
  for (std::int64_t layer = 0; layer < n; ++layer) {
    std::string row =
        fmt::format("{:.10g},{:.10g},{:.10g}", time, pore_volumes(time), (static_cast<double>(layer) + 0.5) * h_);
    for (const std::vector<double>& mean : means)
      row += std::isfinite(mean[layer]) ? fmt::format(",{:.10g}", mean[layer]) : ",";
    profiles_.append(row + '\n');
  }
}

/// Whether there are pictures at this output time.
bool TransportInTime::draws(int number) const {
  const double n_outputs = past_.times.output > 0.0 ? std::ceil(past_.times.end / past_.times.output) - 1.0 : 0.0;
  return number >= n_outputs / most_pictures * (past_.outputs_drawn + 1.0);
}

void TransportInTime::draw_plumes(double time, const std::vector<JobComponent>& fields) {
  ++past_.outputs_drawn;
  past_.result.output_times.push_back(time);
  const FieldView view = view_of(run_, fields);
  if (chemistry_) chemistry_->take_picture(view, flow_.axis, time);
  for (const ComponentResult& c : past_.result.components) {
    const std::string picture = plume_picture(run_.comm, view, c.name, flow_.axis, c.low, c.high, format_si(time, "s"));
    if (!picture.empty())
      past_.figures[fmt::format("transport {} {}", c.name, past_.result.output_times.size())] = picture;
  }
}

/// Of all components, for their moving pictures.
void TransportInTime::draw_frame() {
  const FieldView view = view_of(run_, components(Chemistry::left_out));
  past_.frames.resize(past_.result.components.size());
  for (std::size_t i = 0; i < past_.frames.size(); ++i)
    if (const auto place = view.find(concentration_name(past_.result.components[i].name)))
      past_.frames[i].add(middle_plane(run_.comm, view, {&*place, 1}, across(view.cells, flow_.axis)));
}

/// Files of what has moved, and figures on rank 0. Collective.
void TransportInTime::leave_animations(JobResult& result) {
  if (!deck_.animation) return;
  result.files.push_back({"animation_*.png", "animation of the plumes, for a browser"});
  for (std::size_t i = 0; i < past_.frames.size(); ++i) {
    const ComponentResult& c = past_.result.components[i];
    std::string picture;
    if (run_.comm.rank() == 0) {
      const PlaneLook look = plume_look(view_of(run_, {}).cell_width, c.low, c.high,
                                        fmt::format("0 to {}, animation", format_si(past_.times.end, "s")));
      if (!is_uniform(c.low, c.high))
        past_.figures[fmt::format("transport {} moving", c.name)] = moving_figure(past_.frames[i], look);
      picture = moving_picture(past_.frames[i], look.low, look.high);
    }
    run_.services.files.write(run_.comm, fmt::format("animation_{}.png", c.name), picture);
  }
}

void TransportInTime::at_output(const Clock& clock) {
  write_profiles(clock.time());
  if (draws(clock.outputs())) draw_plumes(clock.time(), components(Chemistry::included));
}

std::string TransportInTime::dependencies() const {
  std::string all = run_.services.solved.dependencies("transport", run_.geometry, h_) + given_;
  if (chemistry_) all += fmt::format("database {:016x}\n", run_.config.reactive->database);
  for (const MineralDeck& m : run_.config.chemistry.minerals)  // those of a file may have changed
    for (const std::string& rate : m.options.rates) all += fmt::format("rate of {} {}\n", m.options.name, rate);
  return all;
}

bool TransportInTime::keep(const Clock&) {
  if (!run_.services.solved.keeps()) return false;
  past_.range = state_.range;
  past_.time = state_.time;
  const auto flush = [this] {
    csv_.flush();
    profiles_.flush();
    if (chemistry_) chemistry_->flush();
  };
  if (!keep_files(run_, "transport", flush, past_.files)) return false;
  std::vector<VofValues> fields;
  for (std::size_t i = 0; i < state_.values.size(); ++i)
    fields.push_back({concentration_name(deck_.components[i].name), 1, own_values(i)});
  std::vector<double> potential;
  if (keeps_flow()) {
    potential = stepper_->flow_potential();
    fields.push_back({potential_name, 1, std::span<const double>(potential)});
  }
  std::vector<ReactiveRun::Rows> rows;
  if (chemistry_) {
    past_.chemistry = chemistry_->past();
    rows = chemistry_->rows();
  }
  for (const ReactiveRun::Rows& r : rows) fields.push_back({r.name, r.width, std::span<const double>(r.values)});
  const Json result{
      {"solve", past_name}, {"steps", past_.result.steps}, {"time_s", state_.time}, {"end_s", past_.times.end}};
  return run_.services.solved.save(past_name, dependencies(), {result, past_json(past_)}, places(), fields);
}

/// Goes on from what an earlier run has kept, when there is something that fits.
bool TransportInTime::resume() {
  if (!run_.services.solved.keeps()) return false;
  std::vector<std::vector<double>> values(state_.values.size(), std::vector<double>(own_values(0).size()));
  std::vector<double> potential(keeps_flow() ? own_values(0).size() : 0);
  TransportPast past = past_;
  ReactiveRun::Memory reactions;
  const auto found = run_.services.solved.load(past_name, dependencies(), [&](const VofFile& file, const Json& state) {
    take_past(state, past);
    const double carried_from = flow_.in_time ? run_.services.handover.in_time->time : past.time;
    require(past.time == carried_from, "it belongs to the time {:g} s, but the flow continues from {:g} s", past.time,
            carried_from);
    for (std::size_t i = 0; i < values.size(); ++i)
      file.read(concentration_name(deck_.components[i].name), places(), 1, std::span(values[i]));
    if (keeps_flow()) file.read(potential_name, places(), 1, std::span(potential));
    if (chemistry_) reactions = chemistry_->read(past.chemistry, file, places());
    bring_files(run_, past.files);
  });
  if (!found) return false;
  if (keeps_flow()) take_flow(*flow_.faces, potential);
  past_ = std::move(past);
  for (std::size_t i = 0; i < values.size(); ++i) stepper_->set_values(state_, i, values[i]);
  state_.range = past_.range;
  if (chemistry_) chemistry_->go_on(std::move(reactions), state_);
  if (!flow_.in_time) n_steps_ = count_steps(past_.times);
  state_.time = past_.time;
  frames_drawn_ = static_cast<int>(state_.time / past_.times.end * most_frames) + 1;
  log_info("transport continues after step {}, at {}", past_.result.steps, format_si(state_.time, "s"));
  return true;
}

void TransportInTime::leave() {
  finish_history(run_, csv_);
  finish_history(run_, profiles_);
  if (chemistry_) chemistry_->close();
}

/// @param chemistry  with its fields, which take a speciation per cell
std::vector<JobComponent> TransportInTime::components(Chemistry chemistry) const {
  std::vector<JobComponent> all;
  for (std::size_t i = 0; i < state_.values.size(); ++i)
    all.push_back(concentration_field(run_, joined_, deck_.components[i].name, own_values(i)));
  if (chemistry_ && chemistry == Chemistry::included)
    std::ranges::move(chemistry_->fields(state_, joined_), std::back_inserter(all));
  return all;
}

std::span<const double> TransportInTime::own_values(std::size_t i) const {
  return state_.values[i].span().first(stepper_->grid().n_own);
}

/// Of the last step.
WallMap TransportInTime::map_of_wall(std::size_t i) const {
  const std::vector<double> amounts = stepper_->wall_amounts(i);
  std::vector<double> flux(places_.size(), 0.0);
  for (std::size_t n = 0; n < places_.size() && !amounts.empty(); ++n)
    flux[n] = h_ * amounts[places_[n].unknown] / (report_.step * places_[n].area);
  return wall_map(run_, places_, deck_.components[i], surface_laws_[i], flux, own_values(i));
}

void TransportInTime::finish() {
  finish_history(run_, csv_);
  if (flow_.in_time) {
    TransportResult& r = past_.result;
    r.darcy_velocity = flow_.darcy_velocity * pore_volumes(state_.time) * r.porosity * r.length / state_.time;
    r.flow_rate = r.darcy_velocity * r.pore_volume / (r.porosity * r.length);
  }
  places_ = wall_places(run_.geometry, *numbering_of(flow_.composite));
  surface_laws_ = surface_laws(run_);
  write_profiles(past_.result.states.back().time);
  finish_history(run_, profiles_);
  for (std::size_t i = 0; i < past_.result.components.size(); ++i) {
    ComponentResult& c = past_.result.components[i];
    if (c.moments_wanted) c.response = breakthrough(past_.at_inlet[i], past_.at_outlet[i]);
    c.inlet = flow_.flows && !flow_.in_time && outlet_ >= 0 ? past_.at_inlet[i].last()
                                                            : std::numeric_limits<double>::quiet_NaN();
    if (is_total(i)) continue;  // totals come last, and minerals act on them, not laws of the wall
    const ComponentLine& end = past_.result.states.back().components[i];
    maps_.push_back(map_of_wall(i));
    c.wall = sum_walls(run_, places_, maps_.back(), surface_laws_[i], end.wall, end.mean);
  }
}

void TransportInTime::add_chemistry_results(JobResult& result) {
  chemistry_->close();
  result.json.update(chemistry_->json());
  result.text += chemistry_->text();
  result.headline = chemistry_->headline() + result.headline;
  std::ranges::move(chemistry_->balances(), std::back_inserter(result.balances));
  std::ranges::move(chemistry_->warnings(), std::back_inserter(result.warnings));
  result.files.push_back({ReactiveRun::csv_name, "pH, minerals, elements and charge at every step"});
}

JobResult TransportInTime::report() {
  finish();
  JobResult result;
  result.text = transport_text(past_.result);
  result.headline = transport_headline(past_.result);
  result.json = transport_json(past_.result);
  result.solves.push_back({"transport", "flux-corrected, gcr", "diagonal", static_cast<int>(past_.result.iterations),
                           deck_.tolerance, run_.comm.max(setup_seconds_),
                           run_.comm.max(wall_clock_.seconds() - setup_seconds_)});
  for (const ComponentResult& c : past_.result.components)
    result.balances.push_back({fmt::format("transport_{}_relative", c.name), c.imbalance});
  result.warnings = transport_warnings(past_.result);
  std::vector<JobComponent> all = components(Chemistry::included);
  const FieldView view = view_of(run_, all);
  if (chemistry_) {
    chemistry_->take_picture(view, flow_.axis, state_.time);
    chemistry_->draw(past_.figures);
    add_chemistry_results(result);
  }
  if (!flow_.in_time) std::ranges::move(break_warnings(past_.times), std::back_inserter(result.warnings));
  draw_transport(run_.comm, result.json, view, past_.figures);
  leave_animations(result);
  result.figures = std::move(past_.figures);
  result.components = asked_of(run_.config, std::move(all));
  result.files.push_back({csv_name, "history of the transport: breakthrough, means, balances"});
  result.files.push_back({profile_name, "mean concentrations along the axis at output times"});
  leave_wall(run_, places_, surface_laws_, std::move(maps_), result);
  if (flow_.in_time)
    result.time = state_.time;  // its plotfiles are those of the flow
  else
    finish_files(run_, past_.files, state_.time, result);
  return result;
}

}  // namespace karst
