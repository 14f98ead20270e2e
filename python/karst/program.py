# SPDX-License-Identifier: BSD-3-Clause
"""Locates and starts the programs karst and karst-make-image, and extracts their error messages."""
from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Sequence
from pathlib import Path

from karst.error import KarstError, RunError, did_you_mean

INTERVAL = 0.2  # between looks at a program [s]
PACKAGE = Path(__file__).resolve().parent


def _places() -> list[tuple[str, str]]:
    """(folders, description) where the programs may be, in the order of the search."""
    folder = os.environ.get("KARST_BUILD")
    if folder:
        return [(folder, f"{folder} (environment variable KARST_BUILD)")]
    prefix = next((parent.parent for parent in PACKAGE.parents if parent.name in ("lib", "lib64", "share")), None)  # PREFIX/lib/.../karst
    beside = list(dict.fromkeys(str(place / "bin") for place in (Path(sys.prefix), prefix) if place))
    return [(str(PACKAGE / "_program/bin"), "the package"), *((place, place) for place in beside), (os.environ.get("PATH", os.defpath), "PATH"),
            (str(PACKAGE.parents[1] / "build/release"), str(PACKAGE.parents[1] / "build/release"))]


def _is_of_python(path: str) -> bool:
    """Whether this is a script of an environment of Python, which only looks for a program itself."""
    with open(path, "rb") as file:
        start = file.read(200)
    return start.startswith(b"#!") and b"python" in start


def find_program(name: str = "karst") -> str:
    """Path of a program: in the folder given by the environment variable KARST_BUILD, otherwise the one that is installed with the package,
    otherwise in the `bin` of the environment of Python and of the prefix that contains the package, on PATH, and in build/release of the
    clone. Raises KarstError if it is in none of them."""
    searched = []
    for folders, description in _places():
        for folder in folders.split(os.pathsep):
            found = shutil.which(name, path=folder) if folder else None
            if found and not _is_of_python(found):
                return str(Path(found).resolve())
        searched.append(description)
    raise KarstError(f"program {name} not found in {', '.join(searched)}; install or build Karst (docs/install.md), then add its folder to PATH "
                     f"or set the environment variable KARST_BUILD to it")


def main() -> None:
    """`python -m karst ...`: replaces this process by the program."""
    program = find_program()
    os.execve(program, [program, *sys.argv[1:]], with_this_python())


def message_of(output: str) -> str:
    """Error message of a program: the text after its first "error:", without the additions of mpirun."""
    text = output.split("\n----------", 1)[0]
    return (text.split("error:", 1)[1] if "error:" in text else text[-2000:]).strip()


def _with_nearest(message: str, command: Sequence[str]) -> str:
    """The message, with the nearest option of the program for each that it does not know."""
    wrong = re.findall(r"--(\w+)", message.partition("not expected")[2].partition("`")[0])
    if not wrong:
        return message
    words = [command[0], *(word for word in command[1:2] if not word.startswith("-")), "--help"]
    known = re.findall(r"--(\w+)", subprocess.run(words, capture_output=True, text=True, errors="replace").stdout)
    return message + "".join(f"\nno option '{name}'{did_you_mean(name, known)}" for name in wrong if name not in known)


class Process:
    """A running program, on one or more ranks, in a separate session: Ctrl-C reaches it through wait() only, once."""

    def __init__(self, command: Sequence[str], ranks: int = 1, echo: bool = False, environment: dict[str, str] | None = None):
        if ranks < 1:
            raise KarstError(f"ranks = {ranks}: must be 1 or more")
        self._program = list(command)
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

    def wait(self, watch: Callable[[], None] | None = None) -> str:
        """Waits for the end and returns the output. Raises RunError with the program's message if it failed. A KeyboardInterrupt during the
        wait requests an orderly end, waits for it, and is raised again. watch: called several times a second until then."""
        try:
            while watch and self.is_running:
                watch()
                time.sleep(INTERVAL)
            status = self._process.wait()
        except KeyboardInterrupt:
            self.stop()
            self._process.wait()
            raise
        self._reader.join()
        if status != 0:
            raise RunError(_with_nearest(message_of(self.output), self._program), status, self.output)
        return self.output


def call(command: Sequence[str], ranks: int = 1, echo: bool = False, environment: dict[str, str] | None = None) -> str:
    """Starts a program and waits for it."""
    return Process(command, ranks, echo, environment).wait()


def with_this_python() -> dict[str, str]:
    """An environment in which `karst import` reads other formats with this interpreter and this package."""
    package = str(Path(__file__).resolve().parents[1])
    return {"KARST_PYTHON": sys.executable, **os.environ, "PYTHONPATH": os.pathsep.join(filter(None, (os.environ.get("PYTHONPATH"), package)))}
