# SPDX-License-Identifier: BSD-3-Clause
"""Runs of every job on grids of some hundred cells: by name, the arguments of karst and the files they read."""

SPHERE = """[[geometry.solid]]
shape = "sphere"
center = [0.5e-3, 0.5e-3, 0.5e-3]
radius = 0.3e-3
mineral = "calcite"
"""
GRID = """[grid]
size = [1e-3, 1e-3, 1e-3]
cells = [{0}, {0}, {0}]
box = 8
periodic = {1}
"""
CREEPING = '[flow]\nmodel = "stokes"\ndrive = "velocity"\nvelocity = 1e-4\naxes = ["x"]\nestimate_error = false\n'
WATER = "[fluid]\nviscosity = 1e-3\ndensity = 1000.0\n"
ACID = """[transport]
{}diffusivity = 1e-9
[[transport.component]]
name = "acid"
inlet = 1.0
[[transport.wall]]
mineral = "calcite"
component = "acid"
rate = 1e-5
"""
SWINGING = """[flow]
model = "unsteady-stokes"
drive = "pressure-gradient"
gradient = [10, 0, 0]
drive_factor = "cos(2*_pi*50*t)"
axes = ["x"]
animation = true
[time]
end = "4 ms"
dt = "1 ms"
output = "2 ms"
"""
CHEMISTRY = """[transport]
diffusivity = 1e-9
[chemistry]
initial = "brine"
inlet = "acid"
[[chemistry.solution]]
name = "brine"
pH = 8
totals = ["Na 1e-2", "Cl 1e-2 charge", "Ca 1e-4", "C(4) 1e-4"]
[[chemistry.solution]]
name = "acid"
pH = 3
totals = ["Na 1e-2", "Cl 1.1e-2 charge", "Ca 1e-6", "C(4) 1e-6"]
[[chemistry.mineral]]
phase = "Calcite"
wall = "calcite"
rates = ["0.89 H+ 1", "5.01e-4 CO2 1", "6.6e-7"]
"""
SPECIATION = """[chemistry]
times = [1, 100]
[[chemistry.solution]]
name = "acid"
pH = 2.0
totals = ["Cl 0.0112 charge"]
[[chemistry.mineral]]
phase = "Calcite"
area = 0.1
amount = 1.0
rates = ["0.89 H+ 1", "6.6e-7"]
"""
STUDY = 'deck = "deck.toml"\n[[vary]]\nkey = "grid.cells"\nvalues = ["16x16x16"]\n'
ENDS = "[false, true, true]"
DIFFUSION = '[diffusion]\naxes = ["x"]\n'
PULLED = '[flow]\nmodel = "stokes"\ndrive = "pressure-gradient"\ngradient = [1, 0, 0]\naxes = ["x"]\nestimate_error = false\n'
PROBE = '[[output.probe]]\nname = "corner"\nposition = [0.1e-3, 0.1e-3, 0.1e-3]\n'
SLICE = '[[output.slice]]\naxis = "z"\nevery = "2 ms"\n'


def output(*plot):
    return f"[output]\ndirectory = \"out\"\nplot = [{', '.join(chr(34) + p + chr(34) for p in plot)}]\n"


def deck(*parts, cells=8, periodic="[true, true, true]"):
    """Parts with the output last, as tables of it may follow."""
    return SPHERE + GRID.format(cells, periodic) + "".join(parts)


def _run(*parts, more=(), **grid):
    return ["run", "deck.toml", *more], {"deck.toml": deck(*parts, **grid)}


def _image():
    return bytes(0 if (y - 4) ** 2 + (z - 5) ** 2 < 16 else 180 for z in range(10) for y in range(10) for x in range(10))


IMAGE = {"rock.raw": _image()}
RUNS = {
    "flow": _run(PULLED, output("fraction", "velocity")),
    "diffusion": _run(DIFFUSION, output("concentration"), cells=16),
    "inertia": _run(WATER, '[flow]\nmodel = "steady"\ndrive = "velocity"\nvelocity = 1e-3\naxes = ["x"]\nsteps = [1, 2, 3]\n'
                    "estimate_error = false\n", output("velocity")),
    "swinging": _run(WATER, SWINGING, output("velocity"), SLICE, PROBE, more=["checkpoint.every_steps=2"]),
    "transport": _run(CREEPING, ACID.format("animation = true\n"), "[time]\nend_pore_volumes = 0.2\noutput_pore_volumes = 0.1\n",
                      output("concentration"), PROBE, periodic=ENDS, more=["checkpoint.every_steps=2"]),
    "steady transport": _run(CREEPING, ACID.format('mode = "steady"\n'), output("concentration"), periodic=ENDS),
    "chemistry": _run(CREEPING, CHEMISTRY, "[time]\nend_pore_volumes = 0.1\n", output("chemistry"), periodic=ENDS),
    "dispersion": _run(PULLED, '[dispersion]\naxes = ["x"]\npeclet = [1.0, 10.0]\ndiffusivity = 1e-9\n', output(), cells=16),
    "dynamic": _run(WATER, PULLED, '[dynamic_permeability]\naxes = ["x"]\n', output()),
    "inlet": _run(WATER, '[flow]\nmodel = "stokes"\nsides = "no-slip"\n[[flow.inlet]]\nside = "-x"\nvelocity = "1 mm/s"\n',
                  output("velocity"), periodic="[false, false, true]"),
    "lid": (["run", "deck.toml"], {"deck.toml": "[grid]\nsize = [1e-3, 1e-3, 1.25e-4]\ncells = [8, 8, 1]\nperiodic = [false, false, true]\n"
                                   + WATER + '[flow]\nmodel = "stokes"\nsides = "no-slip"\n[[flow.lid]]\nside = "+y"\nvelocity = [1e-3, 0, 0]\n'
                                   + output("velocity")}),
    "trace": _run(DIFFUSION, output(), more=["--trace", "out.trace"], cells=16),
    "geometry": (["geometry", "deck.toml"], {"deck.toml": deck(output())}),
    "image": (["run", "rock.raw", "--out", "out", "--size", "10,10,10", "--type", "uint8", "--voxel", "1e-6", "--threshold", "90"], IMAGE),
    "import": (["import", "rock.raw", "-o", "out.h5", "--page", "out.html", "--json", "out.json", "--size", "10,10,10", "--type", "uint8",
                "--voxel", "1e-6", "--threshold", "90"], IMAGE),
    "speciate": (["speciate", "deck.toml", "-o", "out.csv", "--json", "out.json", "--page", "out.html"], {"deck.toml": SPECIATION}),
    "study": (["study", "study.toml", "--out", "out"],
              {"deck.toml": deck(DIFFUSION, output(), cells=16),
               "study.toml": STUDY}),
    "batch": (["study", "study.toml", "--out", "out", "--slurm"],
              {"deck.toml": deck(DIFFUSION, output(), cells=16),
               "study.toml": STUDY}),
}
