// SPDX-License-Identifier: BSD-3-Clause
// Steps of transport in the pores of a packing: time per volume, component and step by phase (from the timers), bytes
// per volume, for some components and cell Péclet numbers (0: no diffusion). The flow is a potential one.
//   bench_transport [cells per direction = 64] [components = 1] [cell Péclet number = 0] [threads = 1] [steps = 10]
#include <fmt/core.h>

#include <chrono>
#include <cstdlib>

#include "base/parallel.hpp"
#include "base/run_guarded.hpp"
#include "solvers/krylov/petsc_session.hpp"
#include "support/level_cases.hpp"
#include "support/scalar_cases.hpp"

namespace {

using namespace karst;

double seconds() { return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count(); }

void report(const Comm& comm, int n, int components, double peclet, int steps) {
  const auto composite = test::composite_of(comm, test::flow_grid(Index::all(n), {}, 16),
                                            *test::packing(n * n * n / 6000, 10.0, n, false, 3));
  ScalarComponent c;
  c.diffusivity = peclet > 0.0 ? 1.0 / peclet : 0.0;
  c.sides[0] = {ScalarSide::Kind::fixed, [](const Vec3&, double) { return 1.0; }};
  TransportOptions options;
  options.allowed_divergence = 1e9;
  double start = seconds();
  TransportStepper stepper(composite, std::vector<ScalarComponent>(static_cast<std::size_t>(components), c), options);
  const double set_up = seconds() - start;
  FaceField flow = test::stream_through(stepper.grid(), {1.0, 0.0, 0.0});
  start = seconds();
  const FlowContinuity continuity = stepper.set_flow(flow);
  const double projection = seconds() - start;
  TransportState state = stepper.make_state();
  TransportReport told;
  stepper.advance(state, 0.5 * stepper.largest_step(), told);
  start = seconds();
  for (int i = 0; i < steps; ++i) stepper.advance(state, 0.5 * stepper.largest_step(), told);
  const double each = (seconds() - start) / steps;
  const auto volumes = static_cast<double>(stepper.grid().counts.volumes);
  fmt::print("{} volumes, {:.0f} % plain, {} component(s), cell Péclet number {}, {} thread(s)\n", volumes,
             100.0 * static_cast<double>(stepper.grid().counts.plain) / volumes, components, peclet, n_threads());
  fmt::print(
      "set-up {:.0f} ns, flow {:.0f} ns ({} iterations), step {:.0f} ns per volume and component: {:.2f} million/s\n",
      1e9 * set_up / volumes, 1e9 * projection / volumes, continuity.iterations, 1e9 * each / volumes / components,
      1e-6 * volumes * components / each);
  fmt::print(
      "last step: low {} high {} iterations, {} passes, {} limited faces; {:.0f} bytes per volume in all, {:.0f} of "
      "them lists\n",
      told.low_iterations, told.high_iterations, told.passes, told.limited_faces,
      static_cast<double>(stepper.bytes()) / volumes, static_cast<double>(stepper.grid().bytes()) / volumes);
}

}  // namespace

int main(int argc, char** argv) {
  return karst::run_guarded(argc, argv, [&](const karst::Comm& comm) {
    const PetscSession petsc;
    const auto number = [&](int i, double otherwise) { return argc > i ? std::atof(argv[i]) : otherwise; };
    karst::set_n_threads(static_cast<int>(number(4, 1)));
    report(comm, static_cast<int>(number(1, 64)), static_cast<int>(number(2, 1)), number(3, 0.0),
           static_cast<int>(number(5, 10)));
  });
}
