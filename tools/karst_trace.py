#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Reads a trace of `karst run --trace FILE`: time per phase, waiting times between ranks, the critical path.

    karst_trace.py FILE [--top 12] [--picture FILE.svg] [--json FILE]

Plain Python, no packages; any other trace of ranks (processes) and threads with slices and flows can be read as well.

  phases          time within slices of a name on the first thread of each rank, without nested slices:
                  mean over the ranks, largest / mean (imbalance), and the part spent waiting
  waits           for messages (of which rank) and for collective calls
  messages        number and bytes from rank to rank; the largest
  critical path   from the last event back: through the work of a rank until it waited for another one, then on that
                  one. Other ranks cannot make up for time on it: its composition by rank and phase
"""
import argparse
import bisect
import json
import sys
from collections import defaultdict
from html import escape

WAITS = ("wait for messages",)
TOGETHER = ("reduction", "gather", "broadcast", "sparse exchange")
BEGIN, END, INSTANT = 1, 2, 3


def varint(data, at):
    """A number of seven bits in each byte, the lowest first, and the place behind it."""
    value = shift = 0
    while True:
        byte = data[at]
        at += 1
        value |= (byte & 127) << shift
        shift += 7
        if byte < 128:
            return value, at


def fields(data):
    """(number, value) of a message in protobuf's wire format: integers, or bytes of what has a length."""
    at, end = 0, len(data)
    while at < end:
        key, at = varint(data, at)
        kind = key & 7
        if kind == 0:
            value, at = varint(data, at)
        elif kind == 1:
            value = int.from_bytes(data[at:at + 8], "little")
            at += 8
        elif kind == 2:
            size, at = varint(data, at)
            value = data[at:at + size]
            at += size
        elif kind == 5:
            value = int.from_bytes(data[at:at + 4], "little")
            at += 4
        else:
            raise SystemExit(f"no trace: a field of kind {kind} at byte {at}")
        yield key >> 3, value


class Slice:
    __slots__ = ("name", "begin", "end", "inside", "parent", "size")

    def __init__(self, name, begin, parent, size):
        self.name, self.begin, self.end, self.inside, self.parent, self.size = name, begin, begin, 0, parent, size

    def phase(self):
        """The slice that this one is a part of: the innermost that is no wait, loop or boxes."""
        part = self
        while part.parent is not None and part.name in (*WAITS, *TOGETHER, "boxes", "own time", "share", "loop"):
            part = part.parent
        return part.name


class Message:
    __slots__ = ("sender", "receiver", "sent", "received", "bytes")

    def __init__(self):
        self.sender = self.receiver = self.sent = self.received = None
        self.bytes = 0


class Thread:
    """Times in nanoseconds, slices in the order of their ends."""

    def __init__(self, rank, name):
        self.rank, self.name, self.slices, self.marks = rank, name, [], []


class Trace:
    def __init__(self, path):
        self.threads, self.messages = {}, defaultdict(Message)
        ranks, names, annotations, open_slices = {}, {}, {}, {}
        with open(path, "rb") as file:
            data = memoryview(file.read())
        for _, packet in fields(data):
            parts = dict(fields(packet))
            sequence, event = parts.get(10), parts.get(11)
            if 60 in parts:
                track = dict(fields(parts[60]))
                if 3 in track:
                    ranks[track[1]] = dict(fields(track[3]))[1] - 1
                elif 4 in track:
                    self.threads[track[1]] = Thread(ranks[track[5]], bytes(dict(fields(track[4]))[5]).decode())
                    open_slices[track[1]] = []
            for kind, interned in fields(parts.get(12, b"")):
                entry = dict(fields(interned))
                (names if kind == 2 else annotations)[sequence, entry[1]] = bytes(entry[2]).decode()
            if event is not None:
                self._take(parts.get(8, 0), sequence, list(fields(event)), names, annotations, open_slices)
        self.by_rank = defaultdict(list)
        for thread in self.threads.values():
            self.by_rank[thread.rank].append(thread)
        self.end = max((s.end for t in self.threads.values() for s in t.slices), default=0)
        self.begin = min((s.begin for t in self.threads.values() for s in t.slices), default=0)

    def _take(self, time, sequence, event, names, annotations, open_slices):
        parts = dict(event)
        thread, stack = self.threads[parts[11]], open_slices[parts[11]]
        if parts[9] == END:
            done = stack.pop()
            done.end = time
            if done.parent is not None:
                done.parent.inside += done.end - done.begin
            thread.slices.append(done)
            return
        notes = {}
        for number, value in event:
            if number == 4:
                note = dict(fields(value))
                notes[annotations[sequence, note[1]]] = note.get(4, 0)
        name = names[sequence, parts[10]]
        if parts[9] == BEGIN:
            stack.append(Slice(name, time, stack[-1] if stack else None, notes.get("size")))
        elif 47 in parts:
            message = self.messages[parts[47]]
            message.sender, message.sent, message.bytes = thread.rank, time, notes["bytes"]
        elif 48 in parts:
            message = self.messages[parts[48]]
            message.receiver, message.received = thread.rank, time
        else:
            thread.marks.append((time, name, notes.get("value")))

    def first_thread(self, rank):
        return next(t for t in self.by_rank[rank] if t.name == "thread 0")

    def ranks(self):
        return sorted(self.by_rank)


def phases(trace):
    """{name: ([own seconds of each rank], [seconds of waiting in it])}, waits and shares counted to what is around."""
    own = defaultdict(lambda: [defaultdict(float), defaultdict(float)])
    for rank in trace.ranks():
        for s in trace.first_thread(rank).slices:
            seconds = 1e-9 * (s.end - s.begin - s.inside)
            entry = own[s.phase()]
            entry[0][rank] += seconds
            if s.name in WAITS or s.name in TOGETHER:
                entry[1][rank] += seconds
    ranks = trace.ranks()
    return {name: ([e[0][r] for r in ranks], [e[1][r] for r in ranks]) for name, e in own.items()}


class Path:
    """The critical path: [(rank, begin, end, slices in between)] backwards in time."""

    def __init__(self, trace):
        self.seconds, self.steps, self.jumps = defaultdict(float), [], 0
        self.trace = trace
        self.waits, self.arrivals, self.entries = {}, {}, defaultdict(dict)
        for rank in trace.ranks():
            slices = sorted((s for s in trace.first_thread(rank).slices if s.name in WAITS or s.name in TOGETHER),
                            key=lambda s: s.end)
            self.waits[rank] = (slices, [s.end for s in slices])
            for k, s in enumerate(s for s in sorted(slices, key=lambda s: s.begin) if s.name in TOGETHER):
                self.entries[k][rank] = s
        for m in trace.messages.values():
            if m.sent is not None and m.received is not None:
                self.arrivals.setdefault(m.receiver, []).append(m)
        for rank, list_of in self.arrivals.items():
            list_of.sort(key=lambda m: m.received)
            self.arrivals[rank] = (list_of, [m.received for m in list_of])
        self.together = {id(s): k for k, all_of in self.entries.items() for s in all_of.values()}
        self._walk()

    def _cause(self, rank, wait):
        """(rank, time) at which what this wait waited for began its way, before its end; None where nobody was late."""
        if wait.name in TOGETHER:
            last, s = max(self.entries[self.together[id(wait)]].items(), key=lambda item: item[1].begin)
            return (last, s.begin) if last != rank and wait.begin < s.begin < wait.end else None
        messages, times = self.arrivals.get(rank, ([], []))
        i = bisect.bisect_left(times, wait.end)  # the message is noted just after the wait
        if i < len(messages) and wait.begin < messages[i].sent < wait.end:
            return messages[i].sender, messages[i].sent
        return None

    def _walk(self):
        trace = self.trace
        rank = max(trace.ranks(), key=lambda r: max((s.end for s in trace.first_thread(r).slices), default=0))
        time = max((s.end for s in trace.first_thread(rank).slices), default=trace.begin)
        while True:
            slices, ends = self.waits[rank]
            i = bisect.bisect_right(ends, time) - 1
            cause = None
            while i >= 0 and cause is None:
                cause = self._cause(rank, slices[i])
                i -= 1
            if cause is None:
                self.steps.append((rank, trace.begin, time))
                break
            came = slices[i + 1].end
            self.steps.append((rank, came, time))
            self.steps.append((cause[0], cause[1], came))  # on its way
            self.jumps += 1
            rank, time = cause
        for place, (rank, begin, end) in enumerate(self.steps):
            if place % 2 == 1:
                self.seconds["messages on their way"] += 1e-9 * (end - begin)
        self._share_out()

    def _share_out(self):
        """Own time of phases within the intervals of the path."""
        by_rank = defaultdict(list)
        for rank, begin, end in self.steps[::2]:
            by_rank[rank].append((begin, end))
        for rank, intervals in by_rank.items():
            intervals.sort()
            begins = [b for b, _ in intervals]

            def within(begin, end):
                total, i = 0, max(bisect.bisect_right(begins, begin) - 1, 0)
                while i < len(intervals) and intervals[i][0] < end:
                    total += max(0, min(end, intervals[i][1]) - max(begin, intervals[i][0]))
                    i += 1
                return total
            for s in self.trace.first_thread(rank).slices:
                covered = within(s.begin, s.end)
                if covered == 0:
                    continue
                self.seconds[f"rank {rank}: {s.phase()}"] += 1e-9 * covered
                if s.parent is not None:
                    self.seconds[f"rank {rank}: {s.parent.phase()}"] -= 1e-9 * covered


def table(rows, head):
    widths = [max(len(str(row[i])) for row in [head, *rows]) for i in range(len(head))]
    return "\n".join("  ".join(str(c).ljust(w) if i == 0 else str(c).rjust(w) for i, (c, w) in enumerate(zip(row, widths))).rstrip()
                     for row in [head, *rows])


def summary(trace, top):
    """All that is told, as data."""
    total = 1e-9 * (trace.end - trace.begin)
    rows = []
    for name, (own, waits) in phases(trace).items():
        work = [o - w for o, w in zip(own, waits)]
        mean = sum(own) / len(own)
        mean_work = sum(work) / len(work)
        rows.append({"phase": name, "mean_s": mean, "wait_s": sum(waits) / len(waits),
                     "imbalance": max(work) / mean_work if mean_work > 0 else 1.0})
    rows.sort(key=lambda r: -r["mean_s"])
    links = defaultdict(lambda: [0, 0])
    for m in trace.messages.values():
        if m.sender is not None and m.receiver is not None:
            links[m.sender, m.receiver][0] += 1
            links[m.sender, m.receiver][1] += m.bytes
    largest = sorted((m for m in trace.messages.values() if m.sender is not None and m.receiver is not None),
                     key=lambda m: -m.bytes)[:top]
    path = Path(trace)
    shares = defaultdict(lambda: [0.0, 0.0])
    for rank in trace.ranks():
        for thread in trace.by_rank[rank]:
            busy = sum(s.end - s.begin for s in thread.slices
                       if s.parent is None or (thread.name == "thread 0" and s.name == "own time"))
            if thread.name != "thread 0":
                shares[rank, thread.name][0] = 1e-9 * busy
    return {"ranks": len(trace.ranks()), "threads": len(trace.threads), "seconds": total, "phases": rows,
            "messages": [{"from": a, "to": b, "number": n, "bytes": size} for (a, b), (n, size) in sorted(links.items())],
            "largest_messages": [{"from": m.sender, "to": m.receiver, "bytes": m.bytes, "microseconds": 1e-3 * (m.received - m.sent)}
                                 for m in largest],
            "other_threads_busy_s": {f"rank {r}, {t}": s for (r, t), (s, _) in sorted(shares.items())},
            "critical_path": {"changes_of_rank": path.jumps,
                              "parts": [{"part": name, "seconds": s} for name, s in sorted(path.seconds.items(), key=lambda e: -e[1])
                                        if s > 1e-9]}}


def text(s, top):
    parts = [f"{s['ranks']} rank(s), {s['threads']} thread(s), {s['seconds']:.3f} s"]
    parts.append(table([(r["phase"], f"{r['mean_s']:.4f}", f"{100 * r['mean_s'] / s['seconds']:.1f} %", f"{r['wait_s']:.4f}",
                         f"{r['imbalance']:.2f}") for r in s["phases"][:top]],
                       ("phase, without what is inside", "mean [s]", "share", "waiting [s]", "imbalance of work")))
    if s["other_threads_busy_s"]:
        parts.append(table([(name, f"{t:.4f}", f"{100 * t / s['seconds']:.1f} %") for name, t in s["other_threads_busy_s"].items()],
                           ("further threads", "busy [s]", "share")))
    if s["messages"]:
        parts.append(table([(f"rank {m['from']} to {m['to']}", m["number"], f"{m['bytes'] / 1e6:.3f}") for m in s["messages"][:top]],
                           ("messages", "number", "MB")))
        parts.append(table([(f"rank {m['from']} to {m['to']}", m["bytes"], f"{m['microseconds']:.0f}") for m in s["largest_messages"][:top]],
                           ("largest messages", "bytes", "until received [µs]")))
    parts.append(f"critical path: {s['critical_path']['changes_of_rank']} changes from rank to rank")
    parts.append(table([(p["part"], f"{p['seconds']:.4f}", f"{100 * p['seconds'] / s['seconds']:.1f} %")
                        for p in s["critical_path"]["parts"][:top]], ("what it is made of", "seconds", "share")))
    return "\n\n".join(parts)


def picture(trace, path, width=1600, row=16):
    """Timeline of all threads: slices over time, one row per depth."""
    def depth(s):
        n = 0
        while s.parent is not None:
            s, n = s.parent, n + 1
        return n
    scale = width / max(trace.end - trace.begin, 1)
    colours, shapes, top = {}, [], 24
    for rank in trace.ranks():
        for thread in sorted(trace.by_rank[rank], key=lambda t: t.name):
            deepest = max((depth(s) for s in thread.slices), default=0)
            shapes.append(f'<text x="4" y="{top + 11}" font-weight="bold">rank {rank}, {escape(thread.name)}</text>')
            top += row
            drawn = defaultdict(lambda: -1.0)
            for s in sorted(thread.slices, key=lambda s: s.begin):
                x, w, level = (s.begin - trace.begin) * scale, (s.end - s.begin) * scale, depth(s)
                if x + w < drawn[level] + 0.5:
                    continue  # hidden by what is drawn
                drawn[level] = x + w
                waits = s.name in WAITS or s.name in TOGETHER
                colour = "#d9d9d9" if waits else colours.setdefault(s.name, f"hsl({(len(colours) * 47) % 360} 55% 72%)")
                y = top + level * row
                label = f'<text x="{x + 2:.1f}" y="{y + 11}">{escape(s.name)}</text>' if w > 7 * len(s.name) else ""
                shapes.append(f'<rect x="{x:.1f}" y="{y}" width="{max(w, 0.5):.1f}" height="{row - 1}" fill="{colour}">'
                              f'<title>{escape(s.name)}: {1e-6 * (s.end - s.begin):.3f} ms</title></rect>{label}')
            top += (deepest + 1) * row + 6
    with open(path, "w") as file:
        file.write(f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {top}" font-family="sans-serif" font-size="11">'
                   f'<rect width="{width}" height="{top}" fill="white"/><text x="4" y="14">0 to {1e-6 * (trace.end - trace.begin):.1f} ms; '
                   f'gray: waiting</text>{"".join(shapes)}</svg>\n')


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("file")
    parser.add_argument("--top", type=int, default=12, help="rows of each table")
    parser.add_argument("--picture", help="draw a timeline into this file (SVG)")
    parser.add_argument("--json", help="write all that is told into this file, too")
    options = parser.parse_args()
    trace = Trace(options.file)
    if not trace.threads:
        sys.exit(f"{options.file}: no trace of ranks and threads")
    told = summary(trace, options.top)
    print(text(told, options.top))
    if options.json:
        with open(options.json, "w") as file:
            json.dump(told, file, indent=1)
    if options.picture:
        picture(trace, options.picture)


if __name__ == "__main__":
    main()
