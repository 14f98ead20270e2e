#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Puts the program with all that it needs into the wheel of the Python package (tools/build_wheel.sh --program calls this, on Debian).

usage: bundle_program.py PREFIX WHEEL FOLDER

PREFIX is where `cmake --install` has put Karst, WHEEL the wheel without the program, and the wheel with it goes to FOLDER. In it,
karst/_program has
  bin        scripts that start the programs with the loader and the libraries of lib alone, whatever the system has
  libexec    the same for the program for x86-64-v3, which the one in bin goes on as where it can (faster_program())
  lib        the programs, all shared libraries they are linked with, the loader and the C library of this machine
  mpi        plugins of Open MPI for one process (own_mpi() in src/base/file/program_path.hpp)
  share      databases, and the notices of all Debian packages that files come from
"""
import base64
import csv
import hashlib
import io
import re
import shutil
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Iterable
from pathlib import Path

PROGRAMS = ("bin/karst", "bin/karst-make-image", "libexec/karst-x86-64-v3")
LOADER = "ld-linux-x86-64.so.2"
# The loader and all libraries come along, so what counts is the kernel: 3.2 or later for the C library of Debian 12. pip knows
# no tag for kernels; systems with glibc 2.17 (2012) are the oldest that today's versions of pip take wheels for.
TAG = "py3-none-manylinux_2_17_x86_64"
PETSC = Path("/usr/lib/x86_64-linux-gnu/libpetsc_real.so.3.18")  # which the program opens itself
MPI = Path("/usr/lib/x86_64-linux-gnu/openmpi/lib/openmpi3")
# What MPI_Init of one process opens and what reads and writes files; the others are for networks, launchers and many processes.
PLUGINS = ("allocator_basic", "allocator_bucket", "bml_r2", "btl_self", "coll_basic", "coll_inter", "coll_libnbc", "coll_self", "coll_sync",
           "coll_tuned", "errmgr_default_app", "ess_singleton", "fbtl_posix", "fcoll_dynamic", "fcoll_dynamic_gen2", "fcoll_individual",
           "fcoll_two_phase", "fcoll_vulcan", "fs_ufs", "io_ompio", "mpool_hugepage", "op_avx", "osc_rdma", "osc_sm", "pmix_isolated",
           "pml_ob1", "rcache_grdma", "reachable_weighted", "schizo_ompi", "schizo_orte", "sharedfp_individual", "shmem_mmap", "state_app",
           "topo_basic", "topo_treematch")
# Packages whose code is compiled into the program.
COMPILED_IN = ("libcli11-dev", "libfmt-dev", "libspdlog-dev", "libtomlplusplus-dev", "nlohmann-json3-dev")

START = f"""#!/bin/sh
# Starts the program of this name in ../lib with the loader and the libraries there.
self=$0
[ -L "$self" ] && self=$(readlink -f "$self")
here=${{self%/*}}
case $here in /*) ;; *) here=$PWD/$here ;; esac
lib=$here/../lib
exec "$lib/{LOADER}" --inhibit-cache --library-path "$lib" --argv0 "$here/${{self##*/}}" "$lib/${{self##*/}}" "$@"
"""
# A script, not an entry point: that would import the package, with NumPy and HDF5, at every start. The program starts this Python where
# it needs one (python_program()): the one in PATH is another, unless the environment is activated.
COMMAND = """#!python
import importlib.util
import os
import sys

package = importlib.util.find_spec("karst").submodule_search_locations[0]
program = os.path.join(package, "_program", "bin", os.path.basename(sys.argv[0]))
os.execve(program, [program, *sys.argv[1:]], {"KARST_PYTHON": sys.executable, **os.environ})
"""
NOTICE = """Karst itself is under the licence of its Python package. What comes with it here is, unchanged, of the Debian packages below, whose
notices are in the folders of their names. Some of these libraries (UMFPACK, SPQR, FFTW and others) are under the GNU
General Public License, so this wheel as a whole may be passed on under version 3 of that licence. The source code of every package
is that of the Debian source package and version in the last two columns.

"""


def output(*words: object) -> str:
    return subprocess.run([str(word) for word in words], check=True, capture_output=True, text=True).stdout


def libraries_of(files: list[Path]) -> dict[str, Path]:
    """Shared libraries that files are linked with, directly and indirectly: name under which they are asked for, and file."""
    found = {}
    for line in output("ldd", *files).splitlines():
        if "not found" in line:
            sys.exit(f"bundle_program.py: {line.strip()}")
        if match := re.match(r"\t(\S+) => (/\S+)", line):
            found[match[1]] = Path(match[2])
    return found


def packages_of(files: Iterable[Path]) -> set[str]:
    """Debian packages that files come from; a package may list what is in /usr/lib as in /lib."""
    real = {str(file.resolve()) for file in files}
    listed = subprocess.run(["dpkg-query", "-S", *real, *(name.removeprefix("/usr") for name in real)], capture_output=True, text=True).stdout
    owner = {Path(name).resolve(): package.split(":")[0] for package, name in (line.split(": ", 1) for line in listed.splitlines())}
    if unknown := [name for name in sorted(real) if Path(name) not in owner]:
        sys.exit(f"bundle_program.py: {', '.join(unknown)}: of no Debian package, so the licence is not known")
    return {owner[Path(name)] for name in real}


def write_notices(packages: list[str], folder: Path) -> None:
    for package in packages:
        (folder / package).mkdir(parents=True)
        shutil.copy(Path("/usr/share/doc", package, "copyright"), folder / package)
    versions = output("dpkg-query", "-W", "-f", "${Package} ${Version} ${source:Package} ${source:Version}\n", *packages)
    (folder / "NOTICE.txt").write_text(NOTICE + versions)


def bundle(prefix: Path, folder: Path) -> None:
    """Fills folder with the programs and what they need."""
    lib, mpi = folder / "lib", folder / "mpi/plugins"
    for new in ("bin", "libexec", "lib", "mpi/plugins"):
        (folder / new).mkdir(parents=True)
    plugins = [MPI / f"mca_{name}.so" for name in PLUGINS]
    if PETSC.name.encode() not in (prefix / PROGRAMS[0]).read_bytes():
        sys.exit(f"bundle_program.py: {prefix / PROGRAMS[0]} opens another PETSc than {PETSC}")
    libraries = libraries_of([*(prefix / name for name in PROGRAMS), *plugins, PETSC])
    libraries[PETSC.name] = PETSC
    libraries[LOADER] = Path("/lib64", LOADER)
    for name, file in libraries.items():
        shutil.copy(file, lib / name)
    for file in plugins:
        shutil.copy(file, mpi)
    shutil.copytree("/usr/share/openmpi", folder / "mpi/share/openmpi", ignore=shutil.ignore_patterns("*-wrapper-data.txt"))  # its messages
    for name in PROGRAMS:
        (folder / name).write_text(START)
        (folder / name).chmod(0o755)
        output("strip", "-o", lib / Path(name).name, prefix / name)
    (lib / LOADER).chmod(0o755)
    shutil.copytree(prefix / "share/karst", folder / "share/karst")
    write_notices(sorted(packages_of([*libraries.values(), *plugins]) | set(COMPILED_IN)), folder / "share/licenses")


def write_wheel(pure: Path, program: Path, target: Path) -> None:
    """The files of the wheel `pure`, those of the folder `program`, and the commands."""
    def add(name: str, content: bytes, mode: int = 0o644) -> None:
        info = zipfile.ZipInfo(name, (1980, 1, 1, 0, 0, 0))
        info.external_attr = (0o100000 | mode) << 16
        info.compress_type = zipfile.ZIP_DEFLATED
        wheel.writestr(info, content, compresslevel=9)
        digest = base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()
        record.append((name, f"sha256={digest}", len(content)))

    record: list[tuple[str, str, object]] = []
    with zipfile.ZipFile(target, "w") as wheel, zipfile.ZipFile(pure) as source:
        info = next(name.removesuffix("WHEEL") for name in source.namelist() if name.endswith(".dist-info/WHEEL"))
        for name in source.namelist():
            text = source.read(name)
            if name == info + "WHEEL":
                text = text.replace(b"py3-none-any", TAG.encode()).replace(b"Root-Is-Purelib: true", b"Root-Is-Purelib: false")
            elif name == info + "METADATA":
                text = text.replace(b"\nSummary:", b"\nLicense: BSD-3-Clause; with the libraries included, GPL-3.0-or-later\nSummary:", 1)
            if name != info + "RECORD":
                add(name, text)
        for path in sorted(path for path in program.rglob("*") if path.is_file()):
            add(f"karst/_program/{path.relative_to(program)}", path.read_bytes(), path.stat().st_mode & 0o755)
        for name in ("karst", "karst-make-image"):
            add(f"{info.removesuffix('.dist-info/')}.data/scripts/{name}", COMMAND.encode(), 0o755)
        lines = io.StringIO()
        csv.writer(lines, lineterminator="\n").writerows([*record, (info + "RECORD", "", "")])
        add(info + "RECORD", lines.getvalue().encode())


def main(prefix: Path, pure: Path, folder: Path) -> None:
    target = folder / pure.name.replace("py3-none-any", TAG)
    with tempfile.TemporaryDirectory() as temporary:
        bundle(prefix, Path(temporary, "program"))
        write_wheel(pure, Path(temporary, "program"), target)
    print(f"{target}: {target.stat().st_size / 1e6:.1f} MB")


if __name__ == "__main__":
    if len(sys.argv) != 4:
        sys.exit(__doc__)
    main(*map(Path, sys.argv[1:]))
