// SPDX-License-Identifier: BSD-3-Clause
// Closure problem of dispersion against one Stokes solve: iterations and seconds per cell Péclet number, in the packing
// of inputs/spheres, flow along x.
//   bench_dispersion [cells per direction = 64] [tolerance = 1e-6]
#include <fmt/core.h>

#include <cstdlib>

#include "base/file/run_guarded.hpp"
#include "bench/clock.hpp"
#include "ins/solve/stokes_solver.hpp"
#include "solvers/krylov/petsc_session.hpp"
#include "support/grid_cases.hpp"
#include "support/ground_cases.hpp"
#include "support/level_cases.hpp"
#include "transport/dispersion/closure.hpp"

namespace {

using namespace karst;

std::unique_ptr<LevelSet> packing(int n) {
  SphereFile file;
  file.path = "inputs/spheres/packing.txt";
  file.skip_lines = 2;
  std::vector<Sphere> spheres = read_spheres(file);
  for (Sphere& s : spheres) {
    s.center *= n;
    s.radius *= n;
  }
  return make_sphere_list(spheres, {Vec3::all(n), {true, true, true}});
}

void run(const Comm& comm, int n, double tolerance) {
  const Geometry geometry =
      build_geometry(comm, test::flow_grid(Index::all(n), {true, true, true}, 16), *packing(n), KeepPores::connected);
  const double start = now();
  auto solver = std::make_unique<StokesSolver>(test::composite_on(comm, geometry), FlowSides{},
                                               StokesOptions{{.tolerance = 1e-6}, {}});
  const double ready = now();
  StokesDrive drive;
  drive.force[0] = 1.0;
  const int iterations = solver->solve(drive).krylov.iterations;
  const double solved = now();
  FaceField flow = solver->face_fluxes();
  solver.reset();
  const double begin = now();
  Closure closure(test::composite_on(comm, geometry), {.tolerance = tolerance});
  const double made = now();
  closure.set_flow(flow);
  fmt::print(
      "{}^3, {} unknowns: Stokes {:.2f} s set-up, {:.2f} s solve ({} iterations); closure {:.2f} s, flow {:.2f} s\n", n,
      closure.op().numbering().n_global(), ready - start, solved - ready, iterations, made - begin, now() - made);
  for (const double cell_peclet : {0.01, 0.1, 1.0, 10.0, 100.0}) {
    const double from = now();
    const Dispersion d = closure.solve(cell_peclet / closure.velocity()[0], fmt::format("cell Pe {}", cell_peclet));
    fmt::print("cell Pe {:6}: {:.2f} s of 3 solves ({} {} {} iterations); D*/D {:.6g} {:.6g} {:.6g}\n", cell_peclet,
               now() - from, d.solves[0].iterations, d.solves[1].iterations, d.solves[2].iterations, d.tensor[0][0],
               d.tensor[1][1], d.tensor[2][2]);
  }
}

}  // namespace

int main(int argc, char** argv) {
  return run_guarded(argc, argv, [&](const Comm& comm) {
    const PetscSession petsc;
    run(comm, argc > 1 ? std::atoi(argv[1]) : 64, argc > 2 ? std::atof(argv[2]) : 1e-6);
  });
}
