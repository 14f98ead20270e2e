// SPDX-License-Identifier: BSD-3-Clause
#include "app/flow/flow_record.hpp"

#include <cmath>
#include <limits>

#include "base/core/error.hpp"
#include "base/file/json.hpp"

namespace karst {

namespace {

/// Hands the members of a structure to f(name, member), for writing and reading alike.
template <class Column, class F>
void each_member(Column& c, F&& f) {
  f("axis", c.axis);
  f("periodic", c.periodic);
  f("permeability_m2", c.permeability);
  f("pressure_gradient_Pa_m", c.gradient);
  f("darcy_velocity_m_s", c.darcy_velocity);
  f("flow_rate_m3_s", c.flow_rate);
  f("largest_speed_m_s", c.largest_speed);
  f("reynolds", c.reynolds);
  f("tortuosity", c.tortuosity);
  f("pressure_drag", c.pressure_drag);
  f("viscous_drag", c.viscous_drag);
  f("side_drag", c.side_drag);
  f("flow_cells", c.counts.flow_cells);
  f("rows", c.counts.rows);
  f("orphans", c.counts.orphans);
  f("walls", c.counts.walls);
  f("walls_half_way", c.counts.walls_half_way);
  f("open_area", c.counts.open_area);
  f("extra_area", c.counts.extra_area);
  f("closed_area", c.counts.closed_area);
  f("closed_level_faces", c.closed_level_faces);
  f("divergence", c.divergence);
  f("histogram", c.histogram.share);
  f("iterations", c.iterations);
  f("relative_residual", c.relative_residual);
  f("setup_seconds", c.setup_seconds);
  f("seconds", c.seconds);
}

template <class Point, class F>
void each_member_of_point(Point& p, F&& f) {
  f("step", p.step);
  f("gradient_Pa_m", p.gradient);
  f("darcy_velocity_m_s", p.darcy_velocity);
  f("permeability_m2", p.permeability);
  f("reynolds", p.reynolds);
  f("forchheimer_number", p.forchheimer);
  f("cell_reynolds", p.cell_reynolds);
  f("largest_speed_m_s", p.largest_speed);
  f("tortuosity", p.tortuosity);
  f("divergence", p.divergence);
  f("grid_gradient_Pa_m", p.grid_gradient);
  f("unevenness", p.unevenness);
  f("newton_steps", p.newton_steps);
  f("iterations", p.iterations);
  f("drives_between", p.drives_between);
  f("relative_residual", p.relative_residual);
  f("seconds", p.seconds);
}

template <class Fit, class F>
void each_member_of_fit(Fit& fit, F&& f) {
  f("permeability_m2", fit.permeability);
  f("beta_per_m", fit.beta);
  f("deviation", fit.deviation);
}

/// JSON has no NaN: null stands for it.
struct Write {
  Json& to;
  void operator()(const char* name, double x) const { to[name] = std::isnan(x) ? Json() : Json(x); }
  void operator()(const char* name, const Vec3& x) const { to[name] = x.v; }
  template <class T>
  void operator()(const char* name, const T& x) const {
    to[name] = x;
  }
};

struct Read {
  const Json& from;
  void operator()(const char* name, double& x) const {
    const Json& value = from.at(name);
    x = value.is_null() ? std::numeric_limits<double>::quiet_NaN() : value.get<double>();
  }
  void operator()(const char* name, Vec3& x) const { x.v = from.at(name).get<std::array<double, 3>>(); }
  template <class T>
  void operator()(const char* name, T& x) const {
    x = from.at(name).get<T>();
  }
};

}  // namespace

SolveRecord record_of(const Comm& comm, const FlowColumn& column) {
  Json state;
  each_member(column, Write{state});
  state["setup_seconds"] = comm.max(column.setup_seconds);
  state["seconds"] = comm.max(column.seconds);
  Json result{{"permeability_m2", column.permeability.v},
              {"iterations", column.iterations},
              {"relative_residual", column.relative_residual},
              {"seconds", state["seconds"]}};
  state["inertia"] = Json::array();
  for (const InertiaPoint& p : column.inertia) {
    Json point;
    each_member_of_point(p, Write{point});
    point["seconds"] = comm.max(p.seconds);
    state["inertia"].push_back(point);
    result["inertia"].push_back({{"reynolds", p.reynolds}, {"permeability_m2", p.permeability}});
  }
  if (column.forchheimer) {
    Json fit;
    each_member_of_fit(*column.forchheimer, Write{fit});
    state["forchheimer"] = fit;
  }
  return {result.dump(), state.dump()};
}

FlowColumn flow_column(const std::string& state) {
  try {
    const Json json = Json::parse(state);
    FlowColumn column;
    each_member(column, Read{json});
    for (const Json& at : json.at("inertia")) {
      InertiaPoint point;
      each_member_of_point(point, Read{at});
      column.inertia.push_back(point);
    }
    if (json.contains("forchheimer")) {
      ForchheimerFit fit;
      each_member_of_fit(fit, Read{json.at("forchheimer")});
      column.forchheimer = fit;
    }
    return column;
  } catch (const JsonError& e) {
    throw Error(fmt::format("the record of a finished solve cannot be read: {}", e.what()));
  }
}

SolveRecord record_of(const Comm& comm, const PausedSweep& sweep) {
  FlowColumn column = sweep.slow;
  column.inertia = sweep.state.points;
  SolveRecord record = record_of(comm, column);
  Json state{{"fall", sweep.fall},
             {"sample_fall", sweep.state.fall},
             {"velocity", sweep.state.velocity},
             {"reached", sweep.state.reached},
             {"solved_reynolds", sweep.state.solved_reynolds}};
  state["column"] = Json::parse(record.state);
  record.state = state.dump();
  return record;
}

PausedSweep paused_sweep(const std::string& state) {
  const Json json = Json::parse_or_null(state);
  require(json.is_object() && json.contains("column"), "the record of a sweep cannot be read");
  PausedSweep sweep;
  sweep.slow = flow_column(json.at("column").dump());
  sweep.fall = json.at("fall");
  std::swap(sweep.state.points, sweep.slow.inertia);
  sweep.state.fall = json.at("sample_fall");
  sweep.state.velocity = json.at("velocity");
  sweep.state.reached = json.at("reached");
  sweep.state.solved_reynolds = json.at("solved_reynolds");
  return sweep;
}

}  // namespace karst
