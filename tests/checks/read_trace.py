# SPDX-License-Identifier: BSD-3-Clause
"""Traces are read by Perfetto's own messages and by tools/karst_trace.py, and tell the truth.

usage: read_trace.py KARST MPIEXEC
"""
import collections
import json
import os
import re
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

from perfetto.protos.perfetto.trace import perfetto_trace_pb2 as perfetto

ROOT = Path(__file__).resolve().parents[2]
MPIEXEC, KARST = sys.argv.pop(2), Path(sys.argv.pop(1)).resolve()
RANKS, THREADS, STEPS = 2, 2, 12
DECK = f"""[[geometry.solid]]
shape = "sphere"
center = [0.5e-3, 0.5e-3, 0.5e-3]
radius = 0.38e-3
[grid]
cells = [16, 16, 16]
size = [1e-3, 1e-3, 1e-3]
box = 8
[fluid]
viscosity = 1e-3
[flow]
model = "navier-stokes"
axes = ["x"]
drive = "pressure-drop"
pressure_drop = 2
[time]
end = {STEPS * 1e-3}
dt = 1e-3
[output]
plot = ["velocity"]
"""
UNITS = {"s": 1.0, "ms": 1e-3, "µs": 1e-6, "ns": 1e-9}


def run(folder, out, *options):
    environment = dict(os.environ, OMP_NUM_THREADS=str(THREADS), OMP_WAIT_POLICY="passive", OMPI_MCA_mpi_yield_when_idle="1")
    return subprocess.run([MPIEXEC, "-n", str(RANKS), "--oversubscribe", "--bind-to", "none", str(KARST), "run", "deck.toml", "--out", out,
                           *options], cwd=folder, env=environment, capture_output=True, text=True)


class Track:
    """What a thread did: slices (name, begin, end, depth) and moments, by Perfetto's messages."""

    def __init__(self, process, name):
        self.process, self.name, self.slices, self.open, self.times = process, name, [], [], []


class ReadTrace(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.place = tempfile.TemporaryDirectory()
        cls.folder = Path(cls.place.name)
        (cls.folder / "deck.toml").write_text(DECK)
        done = run(cls.folder, "out", "--trace", "run.perfetto")
        assert done.returncode == 0, done.stdout + done.stderr
        cls.said = done.stdout
        cls.trace = perfetto.Trace()
        cls.trace.ParseFromString((cls.folder / "run.perfetto").read_bytes())
        cls.read()

    @classmethod
    def tearDownClass(cls):
        cls.place.cleanup()

    @classmethod
    def read(cls):
        cls.tracks, cls.flows, cls.steps = {}, collections.defaultdict(list), []
        processes, names, notes = {}, {}, {}
        for packet in cls.trace.packet:
            key = packet.trusted_packet_sequence_id
            if packet.HasField("track_descriptor"):
                track = packet.track_descriptor
                if track.HasField("process"):
                    processes[track.uuid] = track.process.process_name
                else:
                    cls.tracks[track.uuid] = Track(processes[track.parent_uuid], track.thread.thread_name)
            if packet.HasField("interned_data"):
                names[key] = {n.iid: n.name for n in packet.interned_data.event_names}
                notes[key] = {n.iid: n.name for n in packet.interned_data.debug_annotation_names}
            if not packet.HasField("track_event"):
                continue
            event, track = packet.track_event, cls.tracks[packet.track_event.track_uuid]
            track.times.append(packet.timestamp)
            values = {notes[key][a.name_iid]: a.int_value for a in event.debug_annotations}
            if event.type == perfetto.TrackEvent.TYPE_SLICE_BEGIN:
                track.open.append((names[key][event.name_iid], packet.timestamp))
            elif event.type == perfetto.TrackEvent.TYPE_SLICE_END:
                name, begin = track.open.pop()
                track.slices.append((name, begin, packet.timestamp, len(track.open)))
            for flow in [*event.flow_ids, *event.terminating_flow_ids]:
                cls.flows[flow].append((bool(event.flow_ids), track.process, packet.timestamp, values))
            if names[key].get(event.name_iid) == "step" and event.type == perfetto.TrackEvent.TYPE_INSTANT:
                cls.steps.append((track.process, values["value"]))

    def test_tracks_of_all_ranks_and_threads(self):
        ranks = {f"rank {r}" for r in range(RANKS)}
        self.assertEqual({t.process for t in self.tracks.values()}, ranks)
        for rank in ranks:
            self.assertEqual(sorted(t.name for t in self.tracks.values() if t.process == rank), [f"thread {i}" for i in range(THREADS)])
        for track in self.tracks.values():
            self.assertEqual(track.open, [], "slices without an end")
            self.assertEqual(track.times, sorted(track.times))
            self.assertGreater(len(track.slices), 10)

    def test_steps_and_phases_are_those_of_the_timers(self):
        for rank in range(RANKS):
            self.assertEqual([n for process, n in self.steps if process == f"rank {rank}"], list(range(1, STEPS + 1)))
        timers = (self.folder / "out/timers.txt").read_text()
        for name in ("step", "flow", "geometry"):  # timers at the top
            calls, mean, unit = re.search(rf"^{name} +(\d+) +\S+ \S+ +(\S+) (\S+)", timers, re.M).groups()
            found = [s for t in self.tracks.values() if t.name == "thread 0" for s in t.slices if s[0] == name and s[3] == 0]
            self.assertEqual(len(found), int(calls), name)
            self.assertAlmostEqual(sum(s[2] - s[1] for s in found) * 1e-9 / RANKS / (float(mean) * UNITS[unit]), 1.0, delta=0.01)

    def test_messages_leave_one_rank_and_come_to_another(self):
        self.assertGreater(len(self.flows), 100)
        for ends in self.flows.values():
            self.assertEqual(len(ends), 2)
            (_, sender, sent, out), (_, receiver, received, into) = sorted(ends, key=lambda end: not end[0])
            self.assertEqual([end[0] for end in sorted(ends, key=lambda end: not end[0])], [True, False])
            self.assertNotEqual(sender, receiver)
            self.assertEqual(f"rank {out['to rank']}", receiver)
            self.assertEqual(f"rank {into['from rank']}", sender)
            self.assertEqual(out["bytes"], into["bytes"])
            self.assertLess(sent, received + 1000)  # to a microsecond: one clock

    def test_the_reader_tells_the_same(self):
        tool = subprocess.run([sys.executable, ROOT / "tools/karst_trace.py", "run.perfetto", "--json", "told.json", "--picture", "told.svg"],
                              cwd=self.folder, capture_output=True, text=True)
        self.assertEqual(tool.returncode, 0, tool.stderr)
        told = json.loads((self.folder / "told.json").read_text())
        self.assertEqual([told["ranks"], told["threads"]], [RANKS, RANKS * THREADS])
        self.assertEqual(sum(m["number"] for m in told["messages"]), len(self.flows))
        self.assertEqual(sum(m["bytes"] for m in told["messages"]), sum(e[0][3]["bytes"] for e in self.flows.values()))
        tops = [s for t in self.tracks.values() if t.name == "thread 0" for s in t.slices if s[3] == 0]
        self.assertAlmostEqual(sum(p["mean_s"] for p in told["phases"]) * RANKS / (1e-9 * sum(s[2] - s[1] for s in tops)), 1.0, delta=1e-6)
        path = sum(p["seconds"] for p in told["critical_path"]["parts"])
        self.assertLess(path, told["seconds"] * (1 + 1e-9))  # what lies between slices has no name
        self.assertGreater(path, 0.5 * told["seconds"])
        self.assertIn("rank 1, thread 1", (self.folder / "told.svg").read_text())

    def test_some_steps_alone(self):
        done = run(self.folder, "some", "--trace", "some.perfetto", "--trace-steps", "3:4")
        self.assertEqual(done.returncode, 0, done.stderr)
        some = perfetto.Trace()
        some.ParseFromString((self.folder / "some.perfetto").read_bytes())
        self.assertLess(len(some.packet), 0.5 * len(self.trace.packet))
        self.assertGreater(len(some.packet), 100)

    def test_nothing_is_replaced_and_mistakes_are_told(self):
        before = (self.folder / "run.perfetto").read_bytes()
        for options, words in ((["--trace", "run.perfetto"], "run.perfetto: exists already"),
                               (["--trace", "no/run"], "no/run"), (["--trace", "x", "--trace-steps", "4:3"], "4:3"),
                               (["--trace", "x", "--trace-steps", "4"], "FIRST:LAST"), (["--trace-steps", "1:2"], "--trace")):
            done = run(self.folder, "bad", *options)
            self.assertNotEqual(done.returncode, 0, options)
            self.assertIn(words, done.stderr)
            self.assertFalse((self.folder / "bad").exists() and any((self.folder / "bad").iterdir()), options)
        self.assertEqual((self.folder / "run.perfetto").read_bytes(), before)
        done = run(self.folder, "beyond", "--trace", "beyond.perfetto", "--trace-steps", "100:200")
        self.assertIn("the trace is empty", done.stderr)


if __name__ == "__main__":
    unittest.main()
