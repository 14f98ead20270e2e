# SPDX-License-Identifier: BSD-3-Clause
"""Locates and starts the programs karst and karst-make-image, and extracts their error messages."""
import os
import shutil
import signal
import subprocess
import sys
import threading
from collections.abc import Sequence
from pathlib import Path

from karst.error import KarstError, RunError

BESIDE = "build/release"  # of a clone of the project, where the package lies in python/karst


def find_program(name: str = "karst") -> str:
    """Path of a program: in the folder given by the environment variable KARST_BUILD, otherwise on PATH, otherwise in the clone that
    contains this package. Raises KarstError if it is not found."""
    folder = os.environ.get("KARST_BUILD")
    clone = Path(__file__).resolve().parents[2] / BESIDE
    found = shutil.which(name, path=folder) if folder else shutil.which(name) or shutil.which(name, path=str(clone))
    if found is None:
        where = f"{folder} (KARST_BUILD)" if folder else "PATH"
        raise KarstError(f"program {name} not found in {where}; add it to PATH, or set the environment variable KARST_BUILD to its folder")
    return str(Path(found).resolve())


def message_of(output: str) -> str:
    """Error message of a program: the text after its first "error:", without the additions of mpirun."""
    text = output.split("\n----------", 1)[0]
    return (text.split("error:", 1)[1] if "error:" in text else text[-2000:]).strip()


class Process:
    """A running program, on one or more ranks, in a separate session: Ctrl-C reaches it through wait() only, once."""

    def __init__(self, command: Sequence[str], ranks: int = 1, echo: bool = False, environment: dict[str, str] | None = None):
        if ranks < 1:
            raise KarstError(f"ranks = {ranks}: must be 1 or more")
        self.command = [*(["mpirun", "-n", str(ranks)] if ranks > 1 else []), *command]
        try:
            self._process = subprocess.Popen(self.command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                                             text=True, errors="replace", start_new_session=True, env=environment)
        except OSError as error:
            raise KarstError(f"{self.command[0]}: cannot be started ({error.strerror})") from None
        self._lines: list[str] = []
        self._reader = threading.Thread(target=self._read, args=(echo,), daemon=True)  # otherwise a full pipe would block the program
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
        """Output of the program so far."""
        return "".join(self._lines)

    def stop(self) -> None:
        """Requests an orderly end, as Ctrl-C does."""
        if self.is_running:
            self._process.send_signal(signal.SIGINT)

    def wait(self) -> str:
        """Waits for the end and returns the output. Raises RunError with the program's message if it failed. A KeyboardInterrupt during the
        wait requests an orderly end, waits for it, and is raised again."""
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


def call(command: Sequence[str], ranks: int = 1, echo: bool = False, environment: dict[str, str] | None = None) -> str:
    """Starts a program and waits for it."""
    return Process(command, ranks, echo, environment).wait()


def with_this_python() -> dict[str, str]:
    """An environment in which `karst import` reads other formats with this interpreter and this package."""
    package = str(Path(__file__).resolve().parents[1])
    return {"KARST_PYTHON": sys.executable, **os.environ, "PYTHONPATH": os.pathsep.join(filter(None, (os.environ.get("PYTHONPATH"), package)))}
