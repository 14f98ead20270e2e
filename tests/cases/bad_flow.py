# SPDX-License-Identifier: BSD-3-Clause
"""Cases of bad_input.py: invalid decks of the flow job."""
from bad_cases import FAILED, FAILED_BESIDE, case, deck
from support import older_results, sphere_deck


def flow_deck(lines, sphere=None):
    return (sphere or sphere_deck()) + "\n[flow]\nmodel = \"stokes\"\n" + lines


def unfinished(*solves):
    """What a run leaves that fails after these solves."""
    return [*FAILED, "out/karst-unfinished", "out/karst-unfinished/solved",
            *(f"out/karst-unfinished/solved/{name}.h5" for name in solves)]


@case
def flow_without_drive(folder):
    return ["run", deck(folder, flow_deck(""))], ["flow.drive", "pressure-drop"]


@case
def flow_driven_twice(folder):
    return ["run", deck(folder, flow_deck('drive = "pressure-gradient"\npressure_drop = 1.0\n'))], [
        "flow.pressure_drop", "contradicts flow.drive"]


@case
def flow_without_viscosity(folder):
    return ["run", deck(folder, flow_deck('drive = "pressure-gradient"\n[fluid]\nviscosity = 0\n'))], [
        "fluid.viscosity", "1e-12"]


@case
def flow_steps_without_inertia(folder):
    return ["check", deck(folder, flow_deck('drive = "pressure-gradient"\nsteps = [1, 2]\n')),
            "grid.periodic=[true,true,true]"], ["flow.steps", "proportional to its driving force", "steady"]


@case
def flow_too_fast_to_be_steady(folder):
    return ["run", deck(folder, flow_deck('drive = "pressure-gradient"\naxes = ["x"]\nsteps = [1, 1e9]\n')),
            "grid.periodic=[true,true,true]", "flow.model=steady", "flow.newton_steps=2", "flow.tolerance=1e-5"], [
        "steady x 2/2: no steady flow found", "Reynolds number of about", "Solved up to", "flow.steps",
        "1 finished solve is saved"], unfinished("steady_x_sweep")


@case
def flow_from_ends_of_a_periodic_domain(folder):
    return ["run", deck(folder, flow_deck('drive = "pressure-drop"\naxes = ["x"]\n')),
            "grid.periodic=[true,true,true]"], ["flow.drive", "periodic along x", "pressure-gradient"]


@case
def flow_reservoir_of_a_periodic_axis(folder):
    return ["run", deck(folder, flow_deck('drive = "velocity"\nvelocity = 1e-4\naxes = ["x"]\nreservoir = 4\n')),
            "grid.periodic=[true,true,true]"], ["flow.reservoir", "periodic along x"]


@case
def flow_reservoir_with_a_gradient(folder):
    return ["check", deck(folder, flow_deck('drive = "pressure-gradient"\nreservoir = 4\n')),
            "grid.periodic=[true,true,true]"], ["flow.reservoir", "pressure-drop"]


@case
def flow_reservoir_negative(folder):
    return ["check", deck(folder, flow_deck('drive = "pressure-drop"\nreservoir = -4\n'))], ["flow.reservoir", "-4"]


@case
def flow_error_estimate_without_a_wider_grid(folder):
    return ["run", deck(folder, flow_deck('drive = "pressure-drop"\nestimate_error = true\n')), "grid.cells=[16,16,17]",
            "grid.size=[1.6e-3,1.6e-3,1.7e-3]"], ["flow.estimate_error", "16 x 16 x 17", "even"]


@case
def flow_uncertainty_of_described_solids(folder):
    return ["run", deck(folder, flow_deck('drive = "pressure-drop"\n')), "--uncertainty"], [
        "flow.uncertainty", "the walls of described solids are exact"]


@case
def flow_uncertainty_without_a_model(folder):
    return ["run", deck(folder, sphere_deck()), "--uncertainty"], ["flow.uncertainty", "without flow.model"]


@case
def wall_shift_without_an_image(folder):
    return ["run", deck(folder, flow_deck('drive = "pressure-drop"\n')), "geometry.wall_shift=0.2"], [
        "geometry.wall_shift", "without geometry.image"]


@case
def flow_all_mistakes_at_once(folder):
    text = ('drive = "presure-drop"\naxes = ["x", "w"]\nresevoir = 3\nmax_iterations = 0\nsides = "open"\n'
            "[fluid]\ndensity = -1000\nviscocity = 1e-3\n")
    return ["run", deck(folder, flow_deck(text))], [
        'mean pressure-drop', "flow.axes", '"w"', "flow.resevoir", "flow.reservoir", "flow.max_iterations", "flow.sides",
        "no-slip", "fluid.density", "1e-06", "fluid.viscocity", "fluid.viscosity"]


@case
def flow_values_with_wrong_units(folder):
    text = 'drive = "pressure-drop"\npressure_drop = "1 torr"\n[fluid]\nviscosity = "1 mPa"\n'
    return ["run", deck(folder, flow_deck(text))], [
        "flow.pressure_drop", "1 torr", "unknown unit", "kPa", "fluid.viscosity", "another quantity", "mPa s"]


@case
def flow_velocity_without_value(folder):
    return ["check", deck(folder, flow_deck('drive = "velocity"\n'))], ["flow.velocity", "missing"]


@case
def flow_that_nothing_drives(folder):
    return ["run", deck(folder, flow_deck('drive = "flow-rate"\nflow_rate = 0\n'))], ["flow.flow_rate", "nothing would flow"]


@case
def flow_tolerances_that_cannot_be(folder):
    return ["run", deck(folder, flow_deck('drive = "pressure-drop"\ntolerance = 0\n')), "flow.max_iterations=-1"], [
        "flow.tolerance", "1e-12 to 0.01", "flow.max_iterations", "-1"]


@case
def flow_periodic_sides_of_a_sample(folder):
    """Sides and drive contradict the grid: both are said."""
    return ["run", deck(folder, flow_deck('drive = "pressure-drop"\naxes = ["x"]\nsides = "periodic"\n')),
            "grid.periodic=[true,false,false]"], ["flow.drive", "periodic along x", "flow.sides", "not periodic along y"]


@case
def flow_walls_on_periodic_sides(folder):
    return ["check", deck(folder, flow_deck('drive = "pressure-drop"\naxes = ["z"]\nsides = "no-slip"\n')),
            "grid.periodic=[true,true,false]"], ["flow.sides", "without effect"]


@case
def flow_with_a_reservoir_on_two_levels(folder):
    refined = sphere_deck() + 'levels = 2\n[[grid.refine]]\nlevel = 1\nwhere = "wall"\n'
    return ["run", deck(folder, flow_deck('drive = "pressure-drop"\naxes = ["z"]\nreservoir = 4\n', refined))], [
        "flow.reservoir", "[[grid.refine]]"]


@case
def flow_reservoir_of_lids(folder):
    return ["check", deck(folder, flow_deck('reservoir = 4\nsides = "no-slip"\n[[flow.lid]]\nside = "+z"\nvelocity = [1e-3, 0, 0]\n'))], [
        "flow.reservoir: lids", "remove it"]


@case
def flow_reservoir_of_a_periodic_axis_in_time(folder):
    return ["check", deck(folder, from_inlet("reservoir = 4\n")), "grid.periodic=[true,false,false]"], [
        "flow.reservoir: the domain is periodic along x", "remove it"]


@case
def flow_does_not_converge(folder):
    """Older results stay; log and summary of the run lie beside them."""
    older_results(folder / "out", "report.html", "plot.vtkhdf")
    return ["run", deck(folder, flow_deck('drive = "pressure-drop"\nmax_iterations = 2\n')), "--overwrite"], [
        "stokes x", "not converged", "2 iterations", "flow.tolerance", "flow.max_iterations", "no solve has finished"
        ], FAILED_BESIDE


@case
def flow_over_older_results(folder):
    (folder / "out").mkdir()
    (folder / "out" / "inertia.csv").write_text("older")
    return ["run", deck(folder, flow_deck('drive = "pressure-drop"\n'))], ["out", "inertia.csv", "--overwrite"]


@case
def flow_petsc_options(folder):
    return ["run", deck(folder, flow_deck('drive = "pressure-drop"\n')), "--petsc", "-flow_ksp_type cg"], [
        "--petsc", "-flow_ksp_type", "PETSc", "remove --petsc"]


def in_time(lines, time="end = 1.0\n"):
    return flow_deck(f'drive = "pressure-gradient"\naxes = ["x"]\n{lines}[time]\n{time}').replace(
        'model = "stokes"', 'model = "navier-stokes"')


def from_inlet(lines, inlet="", time="end = 1.0\ndt = 0.1\n"):
    return flow_deck(f'{lines}[[flow.inlet]]\nside = "-x"\nvelocity = 1e-3\n{inlet}[time]\n{time}').replace(
        'model = "stokes"', 'model = "navier-stokes"')


@case
def flow_from_an_inlet_and_a_drive(folder):
    return ["check", deck(folder, from_inlet('drive = "pressure-drop"\ndrive_factor = "sin(q)"\n'))], [
        "flow.drive: a second driving force", "flow.drive_factor", "q is unknown"]


@case
def flow_from_an_inlet_of_unknown_names(folder):
    return ["check", deck(folder, from_inlet("", 'profile = "y*s"\n'))], ["profile", "s is unknown", "t in seconds"]


@case
def flow_from_a_steady_inlet_that_changes(folder):
    text = from_inlet("", 'profile = "y*t"\n', "").replace('"navier-stokes"', '"steady"').replace("[time]\n", "")
    return ["check", deck(folder, text)], ["profile", "t is unknown"]


@case
def dynamic_permeability_without_its_flow(folder):
    return ["run", deck(folder, sphere_deck() + "\n[dynamic_permeability]\naxes = [\"x\"]\n")], [
        "dynamic_permeability.axes", "steady flow is missing", "model = \"stokes\""]


@case
def dynamic_permeability_of_an_axis_without_flow(folder):
    return ["run", deck(folder, flow_deck('drive = "velocity"\nvelocity = 1e-4\naxes = ["x"]\nreservoir = 4\n'
                                          '[dynamic_permeability]\naxes = ["y"]\n'))], [
        "y is not among flow.axes", "flow.reservoir: dynamic_permeability"]


@case
def dynamic_permeability_frequencies(folder):
    return ["check", deck(folder, flow_deck('drive = "pressure-gradient"\n'
                                            '[dynamic_permeability]\nfrequencies = [2, 1]\n'))], [
        "dynamic_permeability.frequencies: must increase", "without dynamic_permeability.axes"]


@case
def flow_from_a_table_that_ends_early(folder):
    (folder / "speed.csv").write_text("time, factor\n0, 0\n0.5, 1\n")
    return ["run", deck(folder, from_inlet('drive_table = "speed.csv"\nanimation = true\nanimation_start = 2\n'))], [
        "flow.animation_start", "ends at 1 s", "flow.drive_table", "covers 0 to 0.5 s", "but the run 0 to 1 s"]


@case
def flow_from_a_table_and_a_formula(folder):
    (folder / "speed.csv").write_text("0, 0\n2, one\n")
    return ["check", deck(folder, from_inlet('drive_table = "speed.csv"\ndrive_factor = "t"\n'))], [
        "flow.drive_table", "remove one of them", "speed.csv:2"]


@case
def flow_from_an_inlet_that_cannot_leave(folder):
    wall = 'shape = "box"\nlo = [4e-4, -1e-3, -1e-3]\nhi = [6e-4, 2e-3, 2e-3]'
    text = from_inlet("").replace('shape = "sphere"\ncenter = [0.5e-3, 0.5e-3, 0.5e-3]\nradius = 0.3e-3', wall)
    return ["run", deck(folder, text)], ["flow.inlet", "could not leave"]


@case
def flow_in_time_without_a_time(folder):
    return ["check", deck(folder, in_time('start = "steady"\nsteps = [1]\n', "dt = 0.0\noutput = 0.0\n")),
            "grid.periodic=[true,true,true]"], ["time.end: missing", "time.dt", "time.output", "flow.steps"]


@case
def flow_driven_in_time_without_a_longest_step(folder):
    return ["run", deck(folder, in_time('drive_factor = "sin(t)"\n')), "grid.periodic=[true,true,true]"], [
        "time.dt: missing", "flow.drive_factor"]


@case
def flow_steps_too_long_for_inertia(folder):
    """The last good state and the history stay."""
    text = in_time("gradient = [1e6, 0, 0]\n", "end = 1e5\ndt = 1e5\n")
    return ["run", deck(folder, text), "grid.periodic=[true,true,true]"], [
        "the step after t = 0 s failed", "12500 s", "use shorter steps"], [
        *FAILED, "out/history.csv", "out/plot.vtkhdf"]


def between_lids(lids, lines="", more=""):
    return flow_deck(lines + "".join(f'[[flow.lid]]\n{lid}\n' for lid in lids) + more)


@case
def flow_between_lids_and_a_drive(folder):
    lid = 'side = "+y"\nvelocity = [1e-3, 0, 0]'
    return ["check", deck(folder, between_lids([lid], 'drive = "pressure-drop"\naxes = ["x"]\n'))], [
        "flow.drive", "second driving force", "[[flow.lid]]", "flow.axes", "lids determine the direction"]


@case
def flow_between_lids_that_cannot_be(folder):
    lids = ['side = "+y"\nvelocity = [0, 1e-3, 0]', 'side = "+y"\nvelocity = [1e-3, 0, 0]', 'side = "up"', ""]
    return ["check", deck(folder, between_lids(lids))], [
        "flow.lid[0].velocity", "the normal of the lid", "[[flow.inlet]]", "flow.lid[1].side", "is a lid already",
        "flow.lid[2].side", "+z", "flow.lid[2].velocity", "flow.lid[3].side", "every lid needs it"]


@case
def flow_between_lids_at_rest(folder):
    return ["check", deck(folder, between_lids(['side = "+y"\nvelocity = [0, 0, 0]']))], [
        "flow.lid", "nothing drives the fluid"]


@case
def flow_between_lids_of_a_periodic_domain(folder):
    return ["check", deck(folder, between_lids(['side = "+z"\nvelocity = [1e-3, 0, 0]'])),
            "grid.periodic=[true,true,true]"], ["flow.lid", "periodic along z", "another direction"]


@case
def flow_between_lids_from_an_inlet(folder):
    text = between_lids(['side = "+y"\nvelocity = [1e-3, 0, 0]'], "", '[[flow.inlet]]\nside = "-x"\nvelocity = 1\n')
    return ["check", deck(folder, text)], ["flow.lid", "together with [[flow.inlet]]"]


@case
def transport_between_lids(folder):
    text = between_lids(['side = "+y"\nvelocity = [1e-3, 0, 0]'], "",
                        '[transport]\ndiffusivity = 1e-9\n[[transport.component]]\nname = "c"\n')
    return ["check", deck(folder, text)], ["flow.lid", "does not support [transport]"]


@case
def flow_along_two_cells(folder):
    """A permeability of pores that change from one cell to the next of two."""
    (folder / "rock.raw").write_bytes(bytes([0, 1, 0, 1, 1, 0, 1, 1]))
    text = ('[geometry]\nimage = "rock.raw"\n[geometry.import]\nsize = [2, 2, 2]\ntype = "uint8"\nvoxel = 1e-6\npore = 0\n'
            'smoothing = 0\n[flow]\nmodel = "stokes"\ndrive = "pressure-drop"\naxes = ["x"]\n[output]\ndirectory = "out"\n')
    return ["run", deck(folder, text)], ["flow.axes", "x is 2 cells long", "too few cells", "at least 4"]


@case
def option_of_a_run_that_there_is_not(folder):
    return ["run", "rock.raw", "--Pore", "0"], ["there is no option --Pore", "did you mean --pore?"]


@case
def option_of_a_run_twice(folder):
    return ["run", "rock.raw", "--voxel", "1um", "--voxel", "2um"], ["--voxel is given 2 times; give it once"]
