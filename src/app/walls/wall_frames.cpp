// SPDX-License-Identifier: BSD-3-Clause
#include "app/walls/walls_process.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "app/job/moving_walls.hpp"
#include "app/output/page_values.hpp"
#include "app/output/plot_file.hpp"
#include "base/core/format.hpp"

namespace karst {

namespace {

constexpr const char* fluid_name = "fraction";
constexpr int frames_for_stills = 8;  ///< of which those are drawn that are next to evenly distributed times

/// What of each cell is fluid.
JobComponent fluid_field(const JobContext& run) {
  const PlotComponent component{fluid_name, PlotField::fraction, 0};
  return {PlotField::fraction, fluid_name,
          [component, ground = run.ground, walls = run.walls](int level, std::int64_t box, std::span<float> cells) {
            fill_plot_component(ground->geometry(), walls->now, 1.0, component, level, box, cells);
          },
          run.ground};
}

/// The fluid, then concentrations of steady transport.
std::vector<std::string> animated_fields(const Config& config) {
  std::vector<std::string> names{fluid_name};
  if (config.transport.asked() && config.transport.steady())
    for (const ComponentDeck& c : config.transport.components) names.push_back(concentration_name(c.name));
  return names;
}

int axis_of_run(const Config& config) {
  return config.flow.model != FlowModel::none ? config.flow.axes[0] : config.transport.axis;
}

/// What is fluid in each frame, coloured by what was fluid in the first one.
PlaneFrames marked_by_first(PlaneFrames frames) {
  if (frames.values.empty()) return frames;
  const std::vector<float> first = frames.values.front();
  for (std::vector<float>& frame : frames.values)
    for (std::size_t i = 0; i < frame.size(); ++i)
      if (std::isfinite(frame[i])) frame[i] = std::isfinite(first[i]) ? first[i] : 0.0F;
  return frames;
}

/// Ends of the scale: those of all frames.
PlaneLook look_of(const JobContext& run, const PlaneFrames& frames, bool is_fluid, double end) {
  PlaneLook look;
  look.low = 0.0;
  look.high = is_fluid ? 1.0 : 0.0;
  for (const std::vector<float>& frame : frames.values)
    for (const float v : frame)
      if (!is_fluid && std::isfinite(v))
        look.high = std::max(look.high, double{v}), look.low = std::min(look.low, double{v});
  if (!(look.high > look.low)) look.high = look.low + 1.0;
  look.quantity = is_fluid ? "fluid at the beginning" : "concentration";
  look.cell_width = run.grid.cell_width();
  look.caption =
      fmt::format("0 to {}, plane in the middle of {}", format_si(end, "s"), axis_names[frames.plane.direction]);
  return look;
}

/// n_stills of the frames, or fewer: the first, the last and those next to evenly distributed times between them.
PlaneFrames stills_of(const PlaneFrames& frames) {
  PlaneFrames stills{frames.plane, {}, {}};
  std::size_t next = 0;
  for (int i = 0; i < n_stills; ++i) {
    const double time = frames.times.front() + i * (frames.times.back() - frames.times.front()) / (n_stills - 1);
    const auto away = [&](double t) { return std::abs(t - time); };
    const auto at = static_cast<std::size_t>(std::ranges::min_element(frames.times, {}, away) - frames.times.begin());
    if (at < next) continue;
    stills.values.push_back(frames.values[at]);
    stills.times.push_back(frames.times[at]);
    next = at + 1;
  }
  return stills;
}

int most_of(const WallsDeck& walls) { return walls.animation ? most_frames : frames_for_stills; }

std::string still_name(const std::string& of, std::size_t number) { return fmt::format("{} still {}", of, number); }

}  // namespace

void add_wall_frame(const JobContext& run, const std::vector<JobComponent>& of_jobs, bool last, Recorder& recorder) {
  const int most = most_of(run.config.walls);
  if (!(last || recorder.step_frame_due(most))) return;
  std::vector<JobComponent> fields{fluid_field(run)};
  for (const JobComponent& c : of_jobs)
    if (c.ground == run.ground) fields.push_back(c);
  recorder.add_step_frame(view_of(run, std::move(fields)), animated_fields(run.config), axis_of_run(run.config), most);
}

void leave_wall_animations(const JobContext& run, const Recorder& recorder, JobResult& result) {
  const bool moves = run.config.walls.animation;
  if (moves) result.files.push_back({"animation_*.png", "animation of the walls and concentrations, for a browser"});
  const std::vector<std::string> names = animated_fields(run.config);
  const std::vector<PlaneFrames>& frames = recorder.recorded().frames;
  for (std::size_t i = 0; i < std::min(names.size(), frames.size()); ++i) {
    const bool is_fluid = i == 0;
    const std::string name = is_fluid ? "walls" : run.config.transport.components[i - 1].name;
    const std::string figure = is_fluid ? name : "walls " + name;
    const PlaneLook look = look_of(run, frames[i], is_fluid, recorder.recorded().time);
    const PlaneFrames marked = is_fluid ? marked_by_first(frames[i]) : frames[i];
    if (moves) {
      recorder.leave_animation(marked, look, fmt::format("animation_{}.png", name), figure + " moving", result.figures);
    } else if (run.comm.rank() == 0 && !marked.values.empty()) {
      std::size_t number = 0;
      for (std::string& still : still_figures(stills_of(marked), look))
        result.figures[still_name(figure, ++number)] = std::move(still);
    }
  }
}

std::vector<std::string> wall_picture_cards(const Json& summary, const Figures& figures) {
  std::vector<std::string> components;
  if (summary.contains("transport"))
    for (const Json& c : summary.at("transport").at("components")) components.push_back(name_of(c));
  const std::string fluid_note = "Gray is solid; of the fluid, yellow was fluid at the beginning and blue was solid.";
  std::vector<std::string> cards;
  PictureRow moving(figures), stills(figures);
  const auto add_stills = [&](PictureRow& row, const std::string& of) {
    for (std::size_t i = 1; i <= n_stills; ++i) row.add(still_name(of, i));
  };
  moving.add("walls moving");
  for (const std::string& c : components) moving.add(fmt::format("walls {} moving", c));
  moving.add_card("Walls that move", fluid_note + " Between two pictures walls move by about as much each time.", cards,
                  2);
  add_stills(stills, "walls");
  stills.add_card("Walls at several times", "The plane through the middle. " + fluid_note, cards);
  for (const std::string& c : components) {
    PictureRow row(figures);
    add_stills(row, "walls " + c);
    row.add_card("Concentration of " + c + " at several times",
                 "Steady with the walls of each time; the plane through the middle, one scale for all times.", cards);
  }
  return cards;
}

}  // namespace karst
