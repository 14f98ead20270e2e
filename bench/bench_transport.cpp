// SPDX-License-Identifier: BSD-3-Clause
// Steps of transport in the pores of a packing: processor time per volume, component and step, by phase (from the
// timers: wall-clock time), bytes per volume, for several numbers of components with different values and a cell Péclet
// number (0: no diffusion). The flow is a potential flow.
//   bench_transport [cells per direction = 64] [components = 1,5,20] [cell Péclet number = 0] [threads = 1] [steps =
//   10]
#include <fmt/core.h>

#include <cstdlib>
#include <sstream>

#include "base/comm/parallel.hpp"
#include "base/comm/timer.hpp"
#include "base/file/run_guarded.hpp"
#include "clock.hpp"
#include "solvers/krylov/petsc_session.hpp"
#include "support/level_cases.hpp"
#include "support/scalar_cases.hpp"

namespace {

using namespace karst;

/// Component i enters with the value 1 + i / 2.
std::vector<ScalarComponent> components_of(int count, double peclet) {
  std::vector<ScalarComponent> all(count);
  for (std::size_t i = 0; i < all.size(); ++i) {
    all[i].diffusivity = peclet > 0.0 ? 1.0 / peclet : 0.0;
    const double enters = 1.0 + 0.5 * static_cast<double>(i);
    all[i].sides[0] = {ScalarSide::Kind::fixed, [enters](const Vec3&, double) { return enters; }};
  }
  return all;
}

/// @param[in,out] flow  empty at first, then without what missed continuity
void report(const std::shared_ptr<const Composite>& composite, int components, double peclet, int steps,
            std::unique_ptr<FaceField>& flow) {
  TransportOptions options;
  options.allowed_divergence = 1e9;
  double start = now();
  TransportStepper stepper(composite, components_of(components, peclet), options);
  const double set_up = now() - start;
  if (flow == nullptr) {
    flow = std::make_unique<FaceField>(test::stream_through(stepper.grid(), {1.0, 0.0, 0.0}));
    stepper.set_flow(*flow);
    store_fluxes(stepper.grid(), stepper.flow(), *flow);
  }
  stepper.set_flow(*flow);
  TransportState state = stepper.make_state();
  for (std::size_t i = 0; i < state.values.size(); ++i)
    stepper.set_values(state, i, [i](const Vec3& x) { return x[0] < static_cast<double>(4 + i) ? 1.0 : 0.0; });
  TransportReport told;
  for (int i = 0; i < 2; ++i) stepper.advance(state, 0.5 * stepper.largest_step(), told);
  reset_timers();
  int low = 0, high = 0;
  start = now();
  for (int i = 0; i < steps; ++i) {
    stepper.advance(state, 0.5 * stepper.largest_step(), told);
    low += told.low_iterations;
    high += told.high_iterations;
  }
  const double each = (now() - start) / steps;
  const auto volumes = static_cast<double>(stepper.grid().counts.volumes);
  const double updates = volumes * components;
  fmt::print("{} volumes, {:.0f} % plain, {} component(s), cell Péclet number {}, {} thread(s)\n", volumes,
             100.0 * static_cast<double>(stepper.grid().counts.plain) / volumes, components, peclet, n_threads());
  fmt::print("set-up {:.0f} ns per volume, step {:.0f} ns per volume and component: {:.2f} million/s\n",
             1e9 * set_up / volumes, 1e9 * each / updates, 1e-6 * updates / each);
  fmt::print("per component and step: low {:.1f}, high {:.1f} iterations; last step: {} passes, {} limited faces\n",
             static_cast<double>(low) / components / steps, static_cast<double>(high) / components / steps, told.passes,
             told.limited_faces);
  for (const TimerRow& row : collect_timers(composite->comm()))
    fmt::print("  {:{}}{}: {:.0f} ns\n", "", 2 * row.depth, row.name, 1e9 * row.max / updates / steps);
  fmt::print("bytes per volume: {:.0f} in all, {:.0f} of them lists\n\n",
             static_cast<double>(stepper.bytes()) / volumes, static_cast<double>(stepper.grid().bytes()) / volumes);
}

}  // namespace

int main(int argc, char** argv) {
  return karst::run_guarded(argc, argv, [&](const karst::Comm& comm) {
    const PetscSession petsc;
    const auto number = [&](int i, double otherwise) { return argc > i ? std::atof(argv[i]) : otherwise; };
    karst::set_n_threads(static_cast<int>(number(4, 1)));
    const int n = static_cast<int>(number(1, 64));
    const auto composite = test::composite_of(comm, test::flow_grid(Index::all(n), {}, 16),
                                              *test::packing(n * n * n / 6000, 10.0, n, false, 3));
    std::unique_ptr<FaceField> flow;
    std::istringstream counts(argc > 2 ? argv[2] : "1,5,20");
    for (std::string count; std::getline(counts, count, ',');)
      report(composite, std::atoi(count.c_str()), number(3, 0.0), static_cast<int>(number(5, 10)), flow);
  });
}
