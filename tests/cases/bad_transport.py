# SPDX-License-Identifier: BSD-3-Clause
"""Cases of bad_input.py: invalid decks of the transport job."""
from bad_cases import FAILED, case, deck
from support import sphere_deck


def transport_deck(component="", more="", time="end_pore_volumes = 1"):
    return (sphere_deck() + "periodic = [false, true, true]\n"
            '[flow]\nmodel = "stokes"\ndrive = "velocity"\nvelocity = 1e-4\naxes = ["x"]\nestimate_error = false\n'
            '[[transport.component]]\nname = "acid"\n' + component + more + f"\n[time]\n{time}\n")


@case
def transport_table_out_of_order(folder):
    (folder / "inlet.csv").write_text("t, value\n0, 1\n2, 3\n1, 4\n")
    return ["run", deck(folder, transport_deck('inlet_table = "inlet.csv"\n'))], [
        "transport.component[0].inlet_table", "inlet.csv:4", "times must increase"]


@case
def transport_table_in_hours(folder):
    """Read as seconds, it would be wrong in silence."""
    (folder / "inlet.csv").write_text("time [h], c\n0, 1\n2, 3\n")
    return ["run", deck(folder, transport_deck('inlet_table = "inlet.csv"\n'))], [
        "transport.component[0].inlet_table", "inlet.csv:1", "gives times in h", "in seconds"]


@case
def transport_all_mistakes_at_once(folder):
    return ["run", deck(folder, transport_deck("diffusivity = -1e-9\n", '[[transport.component]]\nname = "acid"\n'))], [
        "transport.component[0].diffusivity", "transport.component[1].name", "is listed twice"]


@case
def transport_wall_without_its_mineral(folder):
    return ["run", deck(folder, transport_deck(more='[[transport.wall]]\nmineral = "calcite"\nrate = 1e-5\n'))], [
        'the wall has no "calcite"', "solid"]


@case
def transport_initial_not_finite(folder):
    return ["run", deck(folder, transport_deck('initial = "log(-1 - x)"\n'))], [
        "transport.component[0].initial", "must be finite"]


@case
def transport_by_a_pressure_that_nothing_holds(folder):
    """All of the domain is fluid, which no pressure drop moves steadily; found before anything is solved."""
    text = ('[grid]\ncells = [16, 8, 8]\nsize = [16e-6, 8e-6, 8e-6]\n[flow]\nmodel = "stokes"\ndrive = "pressure-drop"\n'
            'axes = ["x"]\n[transport]\ndiffusivity = 1e-9\n[[transport.component]]\nname = "a"\ninlet = 1\n'
            '[time]\nend_pore_volumes = 1\n')
    return ["check", deck(folder, text)], ["flow.drive", "nothing resists the flow along x", '"velocity"']


@case
def transport_inlet_of_a_periodic_axis(folder):
    return ["check", deck(folder, transport_deck("inlet = 1\n")), 'flow.axes=["y"]', "flow.drive=velocity"], [
        "transport.component[0].inlet", "periodic along y"]


@case
def transport_without_a_time(folder):
    return ["check", deck(folder, transport_deck(time=""))], ["time.end", "missing", "end_pore_volumes"]


@case
def transport_from_an_inlet_of_a_periodic_axis(folder):
    inlet = '[flow]\nmodel = "stokes"\n[[flow.inlet]]\nside = "-y"\nvelocity = 1e-4\n'
    acid = '[[transport.component]]\nname = "acid"\ninlet = 1\n[time]\nend_pore_volumes = 1\n'
    return ["check", deck(folder, sphere_deck() + "periodic = [false, true, true]\n" + inlet + acid)], [
        "transport.component[0].inlet", "periodic along y"]


@case
def slices_of_nothing_and_nowhere(folder):
    text = transport_deck() + '[output]\nplot = ["fraction"]\n[[output.slice]]\n[[output.slice]]\naxis = "y"\nname = "z"\nat = 1.0\nevery = 0\n'
    return ["check", deck(folder, text)], ["output.slice[0].every: missing", "output.slice[1].name", "two slices", "output.slice[1].every: 0 given",
                                           "output.slice[1].at: 1 m is beyond", "output.plot names no field"]


@case
def transport_in_pore_volumes_by_a_flow_in_time(folder):
    return ["check", deck(folder, transport_deck()), "flow.model=unsteady-stokes", "flow.drive=pressure-drop", "time.dt=0.1"], [
        "time.end_pore_volumes", "in a steady flow", "time.end: missing"]


@case
def steady_transport_by_a_flow_in_time(folder):
    return ["check", deck(folder, transport_deck()), "flow.model=unsteady-stokes", "transport.mode=steady", "transport.peclet=3"], [
        "transport.mode", "the flow is transient", "transport.peclet", "a transient flow or a flow with inertia"]


def steady_deck(component="inlet = 1\n", wall="rate = 1e-5\n", time=""):
    return transport_deck(component, "[[transport.wall]]\n" + wall, "").replace("[time]\n", time and "[time]\n" + time) + (
        '[transport]\nmode = "steady"\n')


@case
def steady_transport_with_times(folder):
    return ["check", deck(folder, steady_deck('inlet = "1 + sin(t)"\ninitial = 1\ndiffusivity = 0\n', time="end = 3\n"))], [
        "time.end", "a steady state has no time", "transport.component[0].inlet", "no constant", "transport.component[0].initial",
        "transport.component[0].diffusivity"]


@case
def steady_transport_that_nothing_holds(folder):
    return ["run", deck(folder, steady_deck("", "flux = 1e-9\n")), 'flow.axes=["y"]', "flow.drive=velocity"], [
        "transport.component[0]", "acid has neither an inlet", "any constant"]


@case
def laws_of_a_wall_that_contradict(folder):
    return ["check", deck(folder, steady_deck(wall="rate = 1e-5\ndamkohler = 1\norder = 2\nequilibrium = -1\n"))], [
        "transport.wall[0].damkohler", "given together with rate", "transport.wall[0].equilibrium", "no power"]


@case
def given_flux_beside_a_rate(folder):
    return ["check", deck(folder, steady_deck(wall="rate = 1e-5\nflux = 1e-9\n"))], [
        "transport.wall[0].rate", "given together with flux"]


@case
def laws_that_only_a_steady_state_has(folder):
    return ["check", deck(folder, transport_deck(more="[[transport.wall]]\nrate = 1e-5\norder = 2\n"))], [
        "transport.wall[0].order", 'transport.mode = "steady"']


@case
def transport_names_that_plots_use(folder):
    more = '[[transport.component]]\nname = "acid_x"\n[[transport.component]]\nname = "time_s"\n'
    return ["check", deck(folder, transport_deck(more=more).replace('"acid"', '"z"'))], [
        'transport.component[0].name', '"z" is reserved', '"acid_x" is reserved', "vector", '"time_s" is reserved']


@case
def transport_checkpoints_of_a_steady_state(folder):
    text = transport_deck(more="[checkpoint]\nevery_steps = 10\n").replace("[time]\nend_pore_volumes = 1\n", "")
    return ["check", deck(folder, text), "transport.mode=steady"], ["checkpoint.every_steps", "checkpoints are written only by transient transport and flow"]

@case
def transport_region_in_other_units(folder):
    """Millimetres taken for metres: an initial value that would hold nowhere."""
    region = '[[transport.region]]\ninitial = 1\nshape = "box"\nlo = [0, 0, 0]\nhi = [5e-4, 1e-3, 1e-3]\n'
    ball = '[[transport.region]]\ninitial = 1\nshape = "sphere"\ncenter = [0.4, 5e-4, 5e-4]\nradius = 1e-4\n'
    return ["check", deck(folder, transport_deck(more=region + ball))], [
        "transport.region[1]", "outside of the domain", "in metres"]


@case
def transport_type_of_an_array_that_states_it(folder):
    header = b"{'descr': '<f8', 'fortran_order': False, 'shape': (16, 16, 16), }"
    header += b" " * (118 - len(header) - 1) + b"\n"
    (folder / "c.npy").write_bytes(b"\x93NUMPY\x01\x00" + len(header).to_bytes(2, "little") + header + bytes(8 * 16**3))
    text = transport_deck('initial_file = "c.npy"\ninitial_file_type = "float32"\n')
    return ["run", deck(folder, text)], ["transport.component[0].initial_file", "remove initial_file_type"]


@case
def walls_by_no_moles(folder):
    """The wall would take up acid and stay where it is."""
    text = (sphere_deck() + "periodic = [false, true, true]\n"
            '[flow]\nmodel = "stokes"\ndrive = "velocity"\nvelocity = 1e-4\naxes = ["x"]\nestimate_error = false\n'
            '[transport]\nmode = "steady"\n[[transport.component]]\nname = "acid"\ninlet = 1\n'
            "[[transport.wall]]\nrate = 1e-5\n[[walls.mineral]]\nmolar_volume = 3.7e-5\nmoles = 0\n[time]\nend = 1\n")
    return ["check", deck(folder, text)], ["walls.mineral[0].moles", "would not dissolve"]


def walls_until(condition):
    return (sphere_deck() + 'periodic = [false, true, true]\n[flow]\nmodel = "stokes"\ndrive = "pressure-drop"\naxes = ["x"]\n'
            f'[walls]\nuntil = "{condition}"\n[[walls.mineral]]\nspeed = 1e-9\n[time]\nend = 1e3\n')


@case
def walls_until_what_is(folder):
    """It would make a step that nobody asked for."""
    return ["check", deck(folder, walls_until("porosity > 0.1"))], ["walls.until", "is met at the beginning", "the porosity is 0."]


@case
def walls_until_what_the_first_flow_shows(folder):
    return ["run", deck(folder, walls_until("permeability > 0.9 * first"))], ["walls.until", "is met at the beginning", "the permeability is"], FAILED


@case
def transport_output_in_seconds_beyond_pore_volumes(folder):
    """Known before the flow is solved."""
    text = transport_deck(time="end_pore_volumes = 1\noutput = 1e6")
    return ["check", deck(folder, text)], ["time.output", "1e+06 s is longer than the run"]


@case
def transport_output_in_pore_volumes_beyond_seconds(folder):
    text = transport_deck(time="end = 1\noutput_pore_volumes = 1e6")
    return ["check", deck(folder, text)], ["time.output_pore_volumes", "is longer than the run, which ends at 1 s"]


@case
def transport_plot_of_chemistry_that_is_not_there(folder):
    return ["check", deck(folder, transport_deck()), "output.plot=chemistry"], ["output.plot", "belongs to [chemistry]"]
