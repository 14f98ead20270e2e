// SPDX-License-Identifier: BSD-3-Clause
#include "tests/damage/deck_samples.hpp"

#include <fmt/format.h>

#include <array>
#include <fstream>
#include <string>

namespace karst::test {

namespace {

const std::string ball = R"deck([[geometry.solid]]
shape = "sphere"
center = [5e-5, 5e-5, 5e-5]
radius = 3e-5
)deck";
const std::string water = R"deck([fluid]
viscosity = 1e-3
density = 1000
)deck";
const std::string thin = R"deck(cells = [8, 8, 1]
periodic = [false, false, true]
)deck" + water;
/// A flow that carries something past a ball of calcite.
const std::string past_calcite = ball + R"deck(mineral = "calcite"
[grid]
size = [1e-4, 1e-4, 1e-4]
cells = [8, 8, 8]
periodic = [false, true, true]
[flow]
model = "stokes"
drive = "velocity"
velocity = 1e-4
axes = ["x"]
estimate_error = false
[transport]
)deck";

const std::array<std::string, 14> decks{
    R"deck(title = "ball"
[geometry]
keep = "all"
operation = "union"
[[geometry.solid]]
shape = "sphere"
center = [0.5e-3, 0.5e-3, 0.5e-3]
radius = 0.3e-3
[[geometry.solid]]
shape = "cylinder"
center = [0.5e-3, 0.2e-3, 0.5e-3]
axis = [0, 1, 1]
radius = 0.1e-3
length = 0.4e-3
periodic = true
[grid]
size = [1e-3, 1e-3, 1e-3]
cells = [8, 8, 8]
box = 8
periodic = [true, true, true]
[flow]
model = "stokes"
drive = "pressure-gradient"
gradient = [1, 2, 3]
axes = ["x", "z"]
tolerance = 1e-6
[output]
directory = "out"
plot = ["fraction", "velocity"]
)deck",
    R"deck([[geometry.solid]]
shape = "expression"
expression = "sin(6e3*x)*cos(6e3*y) + max(sin(6e3*z), 0.1) - (x > 5e-4 ? 0.2 : 0.3)"
[[geometry.solid]]
shape = "box"
lo = [0.1e-3, 0.1e-3, 0.1e-3]
hi = [0.4e-3, 0.5e-3, 0.6e-3]
rotation = [10, 20, 30]
[grid]
size = [1e-3, 1e-3, 1e-3]
cells = [16, 16, 16]
levels = 2
[[grid.refine]]
level = 1
where = "region"
lo = [0, 0, 0]
hi = [0.5e-3, 0.5e-3, 0.5e-3]
buffer = 1
[diffusion]
axes = ["x"]
diffusivity = 1e-9
tolerance = 1e-6
[output]
directory = "out"
plot = ["fraction", "concentration"]
)deck",
    R"deck([geometry]
image = "rock.raw"
[geometry.import]
size = [10, 10, 10]
type = "uint8"
voxel = 1e-6
pore = 0
smoothing = 0
[grid]
box = 8
[flow]
model = "stokes"
drive = "pressure-drop"
pressure_drop = 2.0
axes = ["x"]
sides = "no-slip"
reservoir = 4
estimate_error = false
[output]
directory = "out"
)deck",
    R"deck([geometry]
image = "rock.raw"
wall_shift = 0.1
[geometry.import]
size = [10, 10, 10]
type = "uint8"
voxel = 1e-6
threshold = 90
pore_above = false
[flow]
model = "stokes"
drive = "flow-rate"
flow_rate = 1e-12
axes = ["y"]
[fluid]
viscosity = 1e-3
density = 1e3
[output]
directory = "out"
plot = []
)deck",
    R"deck([[geometry.solid]]
shape = "spheres"
file = "packing.txt"
columns = "x y z r"
skip_lines = 1
scale = 1e-3
[[geometry.solid]]
shape = "plane"
point = [0, 0, 0.1e-3]
normal = [0, 0.1, 1]
[grid]
size = [1e-3, 1e-3, 1e-3]
cells = [8, 8, 8]
[flow]
model = "steady"
drive = "velocity"
velocity = 1e-4
axes = ["x"]
steps = [1, 2]
newton_steps = 5
[output]
directory = "out"
)deck",
    R"deck([geometry]
operation = "union"
[[geometry.solid]]
shape = "torus"
center = [0.5e-3, 0.5e-3, 0.5e-3]
axis = [0, 0, 1]
radius = 0.1e-3
major_radius = 0.3e-3
inside = "solid"
[[geometry.solid]]
shape = "ellipsoid"
center = [0.5e-3, 0.5e-3, 0.5e-3]
radii = [0.4e-3, 0.3e-3, 0.2e-3]
inside = "solid"
[grid]
size = [1e-3, 1e-3, 1e-3]
cells = [8, 8, 8]
levels = 2
[[grid.refine]]
level = 1
where = "wall"
[flow]
model = "stokes"
drive = "pressure-drop"
axes = ["z"]
[output]
directory = "out"
)deck",
    R"deck([[geometry.solid]]
shape = "cylinder"
center = [0, 5e-5, 5e-5]
axis = [1, 0, 0]
radius = 3e-5
inside = "fluid"
[grid]
size = [1e-4, 1e-4, 1e-4]
cells = [8, 8, 8]
[flow]
model = "stokes"
drive = "pressure-drop"
axes = ["x"]
)deck",
    ball + R"deck([grid]
size = [1e-4, 1e-4, 1e-4]
cells = [8, 8, 8]
periodic = [true, true, true]
)deck" + water +
        R"deck([flow]
model = "unsteady-stokes"
drive = "pressure-gradient"
gradient = [10, 0, 0]
drive_factor = "cos(2*_pi*50*t)"
axes = ["x"]
[time]
end = "5 ms"
dt = "1 ms"
output = "2 ms"
[output]
directory = "out"
plot = ["velocity"]
)deck",
    past_calcite + R"deck(diffusivity = 1e-9
peclet_length = 6e-5
[[transport.component]]
name = "acid"
initial = "x < 5e-5 ? 1 : 0.5"
inlet = "1 + 0.5*sin(20*t)"
inlet_kind = "value"
decay = 0.1
source = 0.01
outlet = 0.5
[[transport.wall]]
mineral = "calcite"
component = "acid"
rate = 1e-5
equilibrium = 0.1
[time]
end_pore_volumes = 0.5
output_pore_volumes = 0.2
cfl = 0.8
[output]
directory = "out"
plot = ["concentration"]
)deck",
    past_calcite + R"deck(mode = "steady"
diffusivity = 1e-9
[[transport.component]]
name = "acid"
inlet = 1.0
[[transport.component]]
name = "tracer"
inlet = 0.5
decay = 0.01
[[transport.wall]]
mineral = "calcite"
component = "acid"
rate = 1e-5
[output]
directory = "out"
plot = ["concentration"]
)deck",
    past_calcite + R"deck(diffusivity = 1e-9
[chemistry]
initial = "brine"
inlet = "acid"
[[chemistry.solution]]
name = "brine"
pH = 8
totals = ["Na 1e-2", "Cl 1e-2 charge", "Ca 1e-4", "C(4) 1e-4"]
[[chemistry.solution]]
name = "acid"
temperature = 25
pH = 3
totals = ["Na 1e-2", "Cl 1.1e-2 charge", "Ca 1e-6", "C(4) 1e-6"]
[[chemistry.mineral]]
phase = "Calcite"
wall = "calcite"
rates = ["0.89 H+ 1", "5.01e-4 CO2 1", "6.6e-7"]
[[chemistry.exchange]]
name = "clay"
site = "X"
amount = 1e-3
[time]
end_pore_volumes = 0.1
output_pore_volumes = 0.05
[checkpoint]
every_steps = 2
keep = 2
[output]
directory = "out"
plot = ["concentration", "chemistry"]
[[output.probe]]
name = "corner"
position = [1e-5, 1e-5, 1e-5]
)deck",
    R"deck([[geometry.solid]]
shape = "cylinder"
center = [5e-5, 5e-5, 0]
axis = [0, 0, 1]
radius = 2e-5
mineral = "body"
[grid]
size = [1e-4, 1e-4, 1.25e-5]
)deck" + thin +
        R"deck([flow]
model = "navier-stokes"
sides = "no-slip"
drive_factor = "t < 1e-3 ? 1000*t : 1"
animation = true
animation_start = "1 ms"
[[flow.inlet]]
side = "-x"
velocity = "1 mm/s"
profile = "parabolic"
[[flow.body]]
name = "disc"
mineral = "body"
area = 5e-10
[transport]
diffusivity = 1e-9
animation = true
[[transport.component]]
name = "dye"
inlet = 1.0
[[transport.region]]
component = "dye"
shape = "box"
lo = [0, 0, 0]
hi = [3e-5, 1e-4, 1e-4]
initial = 1.0
[time]
end = "4 ms"
dt = "1 ms"
cfl = 0.5
output = "2 ms"
[run]
balance = "feedback"
[checkpoint]
every_steps = 2
[output]
directory = "out"
plot = ["velocity", "concentration"]
[[output.probe]]
name = "behind<&>"
position = [9e-5, 5e-5, 6e-6]
[[output.slice]]
axis = "z"
name = "middle"
every = "2 ms"
)deck",
    R"deck([grid]
size = [1e-3, 1e-3, 1.25e-4]
)deck" + thin +
        R"deck([flow]
model = "steady"
sides = "no-slip"
[[flow.lid]]
side = "+y"
velocity = [1e-3, 0, 0]
[output]
directory = "out"
plot = ["velocity"]
)deck",
    ball + R"deck([grid]
size = [1e-4, 1e-4, 1e-4]
cells = [16, 16, 16]
periodic = [true, true, true]
)deck" + water +
        R"deck([flow]
model = "stokes"
drive = "pressure-gradient"
gradient = [1, 0, 0]
axes = ["x"]
[dispersion]
axes = ["x"]
peclet = [1.0, 10.0]
diffusivity = 1e-9
[dynamic_permeability]
axes = ["x"]
[diffusion]
axes = ["x", "y"]
[output]
directory = "out"
plot = ["velocity", "concentration"]
)deck"};

}  // namespace

std::span<const std::string> deck_samples() { return decks; }

void make_sample_files() {
  std::string voxels, packing = "x y z r\n";
  for (int n = 0; n < 1000; ++n) {
    const int x = n % 10, y = n / 10 % 10, z = n / 100;
    voxels += static_cast<char>((x - 5) * (x - 5) + (y - 4) * (y - 4) + z * z < 20 ? 180 : (x + y) % 3 == 0 ? 20 : 0);
  }
  for (int n = 0; n < 8; ++n) packing += fmt::format("{} {} {} 0.2\n", n % 2 * 0.5, n / 2 % 2 * 0.5, n / 4 * 0.5);
  std::ofstream("rock.raw", std::ios::binary) << voxels;
  std::ofstream("packing.txt") << packing;
}

}  // namespace karst::test
