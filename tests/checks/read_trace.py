# SPDX-License-Identifier: BSD-3-Clause
"""Perfetto's own messages read the traces of Karst and tools/karst_trace.py, otf2-print reads the OTF2 archives, and their contents are correct.

usage: read_trace.py KARST MPIEXEC
"""
import collections
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

from perfetto.protos.perfetto.trace import perfetto_trace_pb2 as perfetto

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests" / "cases"))
from support import PUSHED, sphere_deck  # noqa: E402

MPIEXEC, KARST = sys.argv.pop(2), Path(sys.argv.pop(1)).resolve()
RANKS, THREADS, STEPS = 2, 2, 12
DECK = sphere_deck(16, radius=0.38) + PUSHED + f"""[time]
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


class ReadArchive(unittest.TestCase):
    """A second run of the deck of ReadTrace, as an archive of OTF2: what does not depend on how threads share a loop is the same."""
    NOT_COUNTED = {"boxes", "share", "own time"}

    @classmethod
    def setUpClass(cls):
        ReadTrace.setUpClass()
        cls.folder = ReadTrace.folder
        cls.done = run(cls.folder, "otf2", "--trace", "run.otf2")
        if cls.done.returncode == 0 and shutil.which("otf2-print"):
            shown = subprocess.run(["otf2-print", "run.otf2/traces.otf2"], cwd=cls.folder, capture_output=True, text=True)
            cls.complaints = shown.stderr + ("" if shown.returncode == 0 else f"status {shown.returncode}")
            # (event, location, time, what else)
            found = re.findall(r"^([A-Z][A-Z_0-9]+) +(\d+) +(\d+) *(.*)$", shown.stdout, re.M)
            cls.events = [(kind, int(location), int(time), rest) for kind, location, time, rest in found]

    @classmethod
    def tearDownClass(cls):
        ReadTrace.tearDownClass()

    def read(self):
        if "without the OTF2 library" in self.done.stderr:
            self.assertNotEqual(self.done.returncode, 0)
            self.assertFalse((self.folder / "run.otf2").exists() or any((self.folder / "otf2").glob("*.json")))
            self.skipTest("karst is built without OTF2")
        self.assertEqual(self.done.returncode, 0, self.done.stdout + self.done.stderr)
        if not hasattr(self, "events"):
            self.skipTest("otf2-print is not there (package otf2-tools)")
        self.assertEqual(self.complaints, "")
        self.assertGreater(len(self.events), 1000)
        return self.events

    @staticmethod
    def name_in(rest):
        return re.match(r'Region: "(.*)" <', rest).group(1)

    def test_threads_enter_and_leave_in_turn(self):
        stacks, last = collections.defaultdict(list), collections.defaultdict(int)
        for kind, location, time, rest in self.read():
            self.assertGreaterEqual(time, last[location])
            last[location] = time
            if kind == "ENTER":
                stacks[location].append(self.name_in(rest))
            elif kind == "LEAVE":
                self.assertEqual(stacks[location].pop(), self.name_in(rest))
        self.assertEqual(len(stacks), RANKS * THREADS)
        self.assertFalse(any(stacks.values()), stacks)

    def test_slices_and_steps_of_every_rank(self):
        events = self.read()
        first = sorted({location for kind, location, _, _ in events if kind == "MPI_SEND"})  # the first threads
        self.assertEqual(len(first), RANKS)
        for rank, location in enumerate(first):
            of_rank = f"rank {rank}"
            here = collections.Counter(self.name_in(rest) for kind, at, _, rest in events if kind == "ENTER" and at == location)
            there = collections.Counter(s[0] for t in ReadTrace.tracks.values() if (t.process, t.name) == (of_rank, "thread 0") for s in t.slices)
            self.assertEqual({k: n for k, n in here.items() if k not in self.NOT_COUNTED},
                             {k: n for k, n in there.items() if k not in self.NOT_COUNTED})
            steps = [int(re.search(r"Value: (\d+)", rest).group(1)) for kind, at, _, rest in events if kind == "PARAMETER_INT64" and at == location]
            self.assertEqual(steps, [n for process, n in ReadTrace.steps if process == of_rank])

    def test_messages_find_their_ends(self):
        ends = collections.defaultdict(list)
        for kind, location, time, rest in self.read():
            if kind in ("MPI_SEND", "MPI_RECV"):
                other, tag, length = map(int, re.match(r"\w+: (\d+) .*Tag: (\d+), Length: (\d+)", rest).groups())
                rank = location >> 16
                ends[(rank, other, tag) if kind == "MPI_SEND" else (other, rank, tag)].append((kind, time, length))
        self.assertEqual(len(ends), len(ReadTrace.flows))
        self.assertEqual(sum(e[0][2] for e in ends.values()), sum(e[0][3]["bytes"] for e in ReadTrace.flows.values()))
        for pair in ends.values():
            self.assertEqual(sorted(kind for kind, _, _ in pair), ["MPI_RECV", "MPI_SEND"])
            self.assertEqual(pair[0][2], pair[1][2])
            times = {kind: time for kind, time, _ in pair}
            self.assertLess(times["MPI_SEND"], times["MPI_RECV"] + 1000)

    def test_calls_are_made_by_all(self):
        events, open_calls = self.read(), collections.Counter()
        calls = collections.defaultdict(list)
        for kind, location, _, rest in events:
            if kind == "MPI_COLLECTIVE_BEGIN":
                open_calls[location] += 1
            elif kind == "MPI_COLLECTIVE_END":
                open_calls[location] -= 1
                calls[location].append(re.match(r"Operation: (\w+), Communicator: (\".*\") <", rest).groups())
        self.assertEqual([n for n in open_calls.values() if n], [])
        self.assertEqual(len(calls), RANKS)
        self.assertEqual(*calls.values())
        names = {"ALLREDUCE": "reduction", "ALLGATHERV": "gather", "BCAST": "broadcast", "ALLTOALLV": "sparse exchange"}
        found = collections.Counter(names[operation] for operation, _ in next(iter(calls.values())))
        wanted = collections.Counter(s[0] for t in ReadTrace.tracks.values() if (t.process, t.name) == ("rank 0", "thread 0") for s in t.slices)
        self.assertEqual(found, {name: wanted[name] for name in names.values() if wanted[name]})

    def test_nothing_is_replaced(self):
        self.read()
        refused = run(self.folder, "bad", "--trace", "run.otf2")
        self.assertNotEqual(refused.returncode, 0)
        self.assertIn("run.otf2: exists already", refused.stderr)
        shutil.copytree(self.folder / "run.otf2", self.folder / "mine.otf2")
        (self.folder / "mine.otf2" / "notes.txt").write_text("mine")
        mine = run(self.folder, "bad", "--trace", "mine.otf2", "--overwrite")
        self.assertNotEqual(mine.returncode, 0)
        self.assertIn("not a directory that contains only a trace", mine.stderr)
        self.assertEqual((self.folder / "mine.otf2" / "notes.txt").read_text(), "mine")
        again = run(self.folder, "otf2", "--trace", "run.otf2", "--overwrite", "--trace-steps", "3:4")
        self.assertEqual(again.returncode, 0, again.stderr)
        self.assertEqual([p.name for p in self.folder.glob("run.otf2*")], ["run.otf2"])


if __name__ == "__main__":
    unittest.main()
