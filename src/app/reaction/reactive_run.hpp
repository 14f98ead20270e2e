// SPDX-License-Identifier: BSD-3-Clause
// Chemistry in the job of transport in time: reactions in each step, their history, fields and figures.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "app/deck/config.hpp"
#include "app/deck/reactive_plan.hpp"
#include "app/job/exchange.hpp"
#include "app/job/job.hpp"
#include "app/output/probes.hpp"
#include "app/reaction/reactive_past.hpp"
#include "app/reaction/reactive_quantities.hpp"
#include "eb/geometry.hpp"
#include "page/plane_picture.hpp"
#include "transport/march/transport_stepper.hpp"
#include "transport/reactive/reaction_items.hpp"

namespace karst {

/// Reactions of a run. What it does is collective.
class ReactiveRun {
 public:
  /// @param stepper  whose components from ReactivePlan::first on are the totals; outlives this
  /// @param probes  of its volumes
  ReactiveRun(const JobContext& run, const TransportStepper& stepper, const Probes& probes);
  /// After the initial values are set.
  void start(const TransportState& state);
  /// A step of transport and reactions.
  /// @param carried  volume that flows per time, times the cells along the axis of the flow [h0³/s]
  /// @param[out] moved  of the totals: what the step as a whole did. `wall` is what minerals there took (negative:
  /// gave),
  ///                    `source` what came from minerals, sorbents and equilibria in the volume; contents and extremes
  ///                    are those of the state that is left
  void step(TransportStepper& stepper, TransportState& state, double dt, double carried, TransportReport& moved);
  /// What walls gave off of each mineral over the last step of this length [s], and what lies on them, into
  /// Exchanges::dissolution and deposits. Not collective.
  void leave_dissolution(double dt, Exchanges& exchanges) const;
  /// Time passes without a step [s]; 0: walls move. What dissolves over it is known once the state after it stands
  /// still, walls move again, or it ends.
  void skip(double time);
  void count_passed();
  /// Longest time that may pass at once: until a mineral that ends has gone somewhere, or a quarter of what covers a
  /// wall has grown or gone [s].
  double longest_skip() const;
  /// Before a step of the run, of one or more of step(): what there is now is given back by give_back().
  void keep();
  /// All but the state of the transport.
  void give_back();
  /// No step is taken back any more: their memory is free.
  void forget_steps();
  /// Of that state what step() has changed before its advance(). After TransportStepper::go_back(), and before
  /// give_back(). Collective.
  void give_totals_back(TransportStepper& stepper, TransportState& state) const;
  /// Finds the water at the outlet and at probes.
  /// @param outlet  of all components of the transport, as in its deck
  void see(double time, double pore_volumes, std::span<const double> outlet, const TransportState& state);
  /// The first line of chemistry.csv, and that of the last step that has been seen.
  std::string csv_header() const;
  std::string csv_line() const;
  /// Takes that step into the history of the summary.
  void remember() { past_.history.push_back(past_.line); }
  /// Adds the solves of sites, a kind for walls and one for the volume (Process::add_work).
  void add_work(const CompositeNumbering& numbering, std::vector<BoxWork>& kinds) const;

  /// Adds what sites have and what was found up to now.
  /// @param unknowns  the volumes
  void add_items(const VofSet& unknowns, State& state) const;
  /// Goes on after start() from there, with the totals of the transport. Throws the same Error on all ranks: the state
  /// is of other minerals or sites.
  void take_items(const State& state, const VofSet& unknowns, const TransportState& transport);

  /// Fields of pH, saturation indices, species and minerals, all found anew.
  std::vector<JobComponent> fields(const TransportState& state) const;
  /// Keeps planes through the middle along the axis of pH and saturation indices.
  void take_picture(const FieldView& view, int axis, double time);
  /// Pictures of all planes but the last, on rank 0: that is drawn from the fields. Not collective.
  void draw(Figures& figures) const;
  std::string text() const;
  std::string headline() const;
  Json json() const;  ///< an object with the member chemistry
  std::vector<Balance> balances() const;
  std::vector<std::string> warnings() const;
  static constexpr const char* csv_name = "chemistry.csv";

 private:
  /// Minerals on walls, and those in the volume.
  struct Place {
    ReactiveSites sites;
    ReactionState state;
    ReactionReport report;
    bool walls = false;
    std::optional<PhreeqcCells> phreeqc;  ///< of the engine phreeqcrm, from the first step on
    SitesBefore before{};
    const char* name() const { return walls ? sites_at_walls : "sites in volumes"; }
  };
  /// Of plotfiles, slices and probes.
  struct Field {
    std::string name;
    std::function<double(std::size_t volume, const Speciation* water)> value;  ///< water: nullptr where none is found
  };
  /// What reacts there.
  const ReactiveMedium& medium_of(const Place& place) const { return place.walls ? plan_.medium : plan_.bulk->medium; }
  bool couples(double dt) const;
  void keep_totals(std::span<const Array<double>> totals);
  void react(Place& place, double dt, double now, std::span<Array<double>> totals);
  void react_first_half(Place& place, double dt, std::span<Array<double>> totals);
  void add(const Place& place, double dt);
  void note_taken(const Place& place, double time);
  double mean_rate(const Place& place, std::size_t i) const;
  bool ends_at(const Place& place, std::size_t mineral) const;
  std::vector<double> pass(double time);
  void find_amounts();
  double thickness_at(std::size_t volume, std::size_t mineral) const;
  std::span<const Array<double>> totals(const TransportState& state) const;
  void find_contents(const TransportState& state, std::vector<double>& content, std::vector<double>& size) const;
  void balance(const TransportState& state, TransportReport& moved);
  void forget_errors(std::span<const MineralLine> before);
  void add_to_ledger(const ComponentBalance& step, std::size_t primary);
  void release(std::span<const double> moles);
  void note_reactions(const TransportState& state, std::span<const double> content, TransportReport& moved) const;
  double finest_width() const;
  WaterLine water_of(std::span<const double> totals, Speciation& state) const;
  void compare_with_well_mixed(const TransportState& state);
  void each_column(const ReactiveLine& line, auto&& reader) const;
  std::vector<std::string> mineral_names() const;
  std::vector<std::string> drawn_fields() const;
  std::vector<Field> all_fields() const;
  std::vector<std::vector<double>> values_in(std::span<const std::int32_t> volumes, const TransportState& state) const;
  const char* engine() const { return plan_.phreeqc ? "PHREEQC" : "Karst"; }
  bool sorbs() const { return plan_.bulk && !plan_.bulk->medium.sites.empty(); }
  Sorbents sorbents() const { return sorbs() ? Sorbents::some : Sorbents::none; }
  bool sorbs(std::size_t primary) const;
  bool walls_move() const { return run_.config.walls.asked(); }
  std::vector<std::pair<double, double>> picture_ranges() const;

  const JobContext& run_;
  const ReactivePlan& plan_;
  const ScalarGrid& grid_;
  double moles_;        ///< of 1 mol/kgw in h0³ of fluid
  double fluid_ = 0.0;  ///< [h0³]
  std::vector<Place> places_;
  const Probes& probes_;
  std::vector<Field> fields_;  // first those that are drawn
  ProbeTable probed_;          // of all fields
  std::vector<double> area_;   ///< [mineral] [m²], over all ranks
  std::vector<double> content_, size_;
  CoupledScratch coupled_;
  ReactivePast past_;
  PastBefore past_before_;
  std::vector<double> content_before_, size_before_;
  std::vector<double> totals_before_;  ///< [site at walls][primary]; of the step under way if that reacts in halves
  bool halved_ = false;                ///< the step under way does
  std::vector<double> taken_;          ///< [site at walls][mineral] dissolved in the last step() [mol/kgw]
  double step_ = 0.0;                  ///< its length [s]
  double crossing_ = 0.0;              ///< ReactionOptions::crossing in the last step [s]
  double cell_width_ = 1.0;
};

/// Chemistry on the page of transport: its key figures, charts, and pictures of the figures "chemistry FIELD N".
struct ReactivePage {
  std::vector<PageTile> tiles;
  std::vector<std::string> charts, pictures, numbers;  ///< cards
  std::vector<std::vector<std::string>> uniform;       ///< fields that are not drawn, and their values
};
ReactivePage reactive_page(const Json& summary, const Figures& figures);
/// Pictures of the last state. Collective.
void draw_reactive(const Comm& comm, const Json& summary, const FieldView& view, Figures& figures);
/// How pH and saturation indices are drawn, with ends of the scale that show something.
PlaneLook chemistry_look(const std::string& field, double cell_width, double low, double high,
                         const std::string& caption);

/// [mineral of the geometry][mineral of the deck] Which part of its walls is covered. Not collective.
std::vector<std::vector<double>> covered_parts(const Config& config, const Geometry& geometry);

}  // namespace karst
