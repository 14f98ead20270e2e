# SPDX-License-Identifier: BSD-3-Clause
"""The programs karst and karst-make-image: where they are, how they are started, what they say when they fail."""
import os
import shutil
import signal
import subprocess
import threading
from collections.abc import Sequence
from pathlib import Path

from karst.error import KarstError, RunError

BESIDE = "build/release"  # of a clone of the project, where the package lies in python/karst


def find_program(name: str = "karst") -> str:
    """Path of a program: of the folder that the environment variable KARST_BUILD names, else on PATH, else of the clone that
    this package lies in. Raises KarstError when there is none."""
    folder = os.environ.get("KARST_BUILD")
    clone = Path(__file__).resolve().parents[2] / BESIDE
    found = shutil.which(name, path=folder) if folder else shutil.which(name) or shutil.which(name, path=str(clone))
    if found is None:
        where = f"{folder} (KARST_BUILD)" if folder else "PATH"
        raise KarstError(f"there is no program {name} in {where}; put it on PATH, or name its folder in the environment variable KARST_BUILD")
    return str(Path(found).resolve())


def message_of(output: str) -> str:
    """What a program says when it fails: all behind its first "error:", without what mpirun adds."""
    text = output.split("\n----------", 1)[0]
    return (text.split("error:", 1)[1] if "error:" in text else text[-2000:]).strip()


class Process:
    """A program at work, on one or more ranks, in a session of its own: Ctrl-C reaches it through wait() alone, once."""

    def __init__(self, command: Sequence[str], ranks: int = 1, echo: bool = False):
        if ranks < 1:
            raise KarstError(f"ranks = {ranks}: must be 1 or more")
        self.command = [*(["mpirun", "-n", str(ranks)] if ranks > 1 else []), *command]
        try:
            self._process = subprocess.Popen(self.command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                                             text=True, errors="replace", start_new_session=True)
        except OSError as error:
            raise KarstError(f"{self.command[0]}: cannot be started ({error.strerror})") from None
        self._lines: list[str] = []
        self._reader = threading.Thread(target=self._read, args=(echo,), daemon=True)  # else a full pipe would hold the program up
        self._reader.start()

    def _read(self, echo: bool) -> None:
        assert self._process.stdout is not None
        with self._process.stdout as stream:
            for line in stream:
                self._lines.append(line)
                if echo:
                    print(line, end="", flush=True)

    @property
    def is_running(self) -> bool:
        return self._process.poll() is None

    @property
    def output(self) -> str:
        """What it has printed so far."""
        return "".join(self._lines)

    def stop(self) -> None:
        """Asks it to end in order, as Ctrl-C does."""
        if self.is_running:
            self._process.send_signal(signal.SIGINT)

    def wait(self) -> str:
        """What it printed, once it has ended well. Raises RunError with its message otherwise. An interrupt of the waiting
        asks it to end in order, waits for that, and goes on as the interrupt."""
        try:
            status = self._process.wait()
        except KeyboardInterrupt:
            self.stop()
            self._process.wait()
            raise
        self._reader.join()
        if status != 0:
            raise RunError(message_of(self.output), status, self.output)
        return self.output


def call(command: Sequence[str], ranks: int = 1, echo: bool = False) -> str:
    """Starts a program and waits for it."""
    return Process(command, ranks, echo).wait()
