#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Every command of the documentation is run somewhere: HOW says where; a command that is not in it, or an entry without a command, is an error.

    page_commands.py BUILD [--full]

Runs the commands of README.md and docs that no other test runs, on smaller images; with --full unchanged, and also those of
inputs/*/README.md. Commands are those of blocks marked sh; each page has a separate folder that contains the project.
"""
import os
import re
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
HERE, FULL, EXAMPLE = "here", "here, with --full", "on the page of the example"

# (page, beginning of the command, where it is run): a test, a script that runs it, or "not: why".
HOW = [
    ("README.md", "tools/quickstart.sh", FULL),
    ("README.md", "tools/test.sh", "not: it runs the tests"),
    ("README.md", "build/release/karst study", FULL),  # and smaller ones in case_study
    ("README.md", "build/release/karst variation", FULL),  # case_variation
    ("README.md", "build/release/karst", HERE),
    ("CONTRIBUTING.md", "tools/build.sh", "tools/test.sh"),
    ("CONTRIBUTING.md", "tools/test.sh", "not: it runs the tests"),
    ("CONTRIBUTING.md", "tools/sanitize.sh", "tools/test.sh"),
    ("CONTRIBUTING.md", "tools/format.sh", "check_format"),
    ("CONTRIBUTING.md", "tools/tidy.sh", "tools/check.sh"),
    ("CONTRIBUTING.md", "tools/site.sh", "tools/test.sh"),
    ("CONTRIBUTING.md", "tools/check.sh", "not: it runs the tests"),
    ("docs/generator.md", "karst-make-image", HERE),
    ("docs/install.md", "cmake --install", "check_install"),
    ("docs/install.md", "tools/package.sh", "tools/test.sh"),
    ("docs/install.md", "tools/build_wheel.sh", "nightly_wheel"),
    ("docs/install.md", "pip install", "nightly_wheel"),
    ("docs/install.md", "karst --version", "nightly_wheel"),
    ("docs/install.md", "module load", "not: needs a cluster"),
    ("docs/install.md", "tools/install_dependencies.sh", "not: lists what is missing on a system without dpkg"),
    ("docs/install.md", "KARST_SKIP_PACKAGES=1", "not: needs a cluster"),
    ("docs/install.md", "srun", "not: needs a cluster"),
    ("docs/install.md", "spack", "not: needs Spack; check_install reads the recipe"),
    ("docs/install.md", "docker", "not: needs a Docker engine; check_install reads the Dockerfile"),
    ("docs/install.md", "source <(karst completion bash)", "check_install"),
    ("docs/install.md", "karst completion zsh", "check_install"),
    ("docs/open-results.md", "", "check_open_results"),
    ("docs/performance.md", "bench/", "not: takes hours, on a machine that does nothing else"),
    ("docs/python.md", "pip install", "check_package"),
    ("docs/python.md", ".venv/bin/python -m karst.plot", "check_package"),
    ("docs/scaling.md", "karst study", "case_study"),
    ("docs/scaling.md", "bash", "case_study"),
    ("docs/scaling.md", "karst variation", "case_variation"),
    ("docs/scaling.md", "", "nightly_machine"),
    ("docs/tasks/*.md", "build/release/karst run inputs/", EXAMPLE),
    ("docs/tasks/*.md", "build/release/karst study inputs/", EXAMPLE),
    ("docs/tasks/*.md", "build/release/karst speciate inputs/", EXAMPLE),
    ("docs/tasks/*.md", "build/release/karst init", HERE),
    ("docs/tasks/*.md", "build/release/karst run", FULL),
    ("docs/traces.md", "", "check_traces"),
    ("docs/tutorial.md", "karst run deck.toml", "case_resume_1"),
    ("docs/tutorial.md", "", HERE),
    ("docs/verification.md", "tools/verification.sh", "case_verify_geometry"),  # and the others; the script writes the page
    ("inputs/*/README.md", "", FULL),
    ("python/README.md", "pip install", "check_package"),
    ("python/notebooks/README.md", "pip install", "not: fetches Jupyter; check_notebooks runs the cells"),
    ("python/notebooks/README.md", "jupyter", "not: needs a browser; check_notebooks runs the cells"),
]
# What a page takes for granted, and what makes it smaller when there is little time.
BEFORE = {
    "README.md": "karst-make-image -o rock.tif --size 20 --radius 5 --voxel 5.3e-6; karst import rock.tif -o rock.h5",
    **{f"docs/tasks/{name}.md": "karst-make-image -o rock.tif --size 20 --radius 5 --voxel 5.3e-6; karst import rock.tif -o rock.h5"
       for name in ("permeability", "tracer", "walls", "chemistry", "flow")},
    "inputs/diffusion/README.md": "mkdir -p out/quickstart; karst-make-image -o out/quickstart/rock.tif --voxel 5e-6; "
                                  "karst import out/quickstart/rock.tif -o out/quickstart/rock.h5",
    "inputs/inertia/README.md": "gunzip -c \"$KARST_TEST_DATA/ketton_128.raw.gz\" >ketton_128.raw",
}
ALWAYS = {"help [KEY]": "help grid.box"}
SMALLER = {"--size 160": "--size 40", "--radius 22": "--radius 7", "--size 128": "--size 32", "--radius 16": "--radius 6", "--radius 14": "--radius 6",
           "plot_wall.py": "plot_wall.py --size 300 --max-cells 64"}


def pages():
    return [path.relative_to(ROOT).as_posix() for pattern in ("*.md", "docs/**/*.md", "inputs/**/*.md", "python/**/*.md") for path in sorted(ROOT.glob(pattern))]


def commands(text):
    """Of the blocks marked sh, in their order; lines that go on and loops are one command each."""
    found = []
    for block in re.findall(r"```sh\n(.*?)```", text, re.S):
        for line in re.sub(r"\\\n\s*", "", block).splitlines():
            line = re.sub(r"\s+#.*", "", line).strip()
            if found and re.match(r"for .*; do", found[-1]) and not found[-1].endswith("done"):
                found[-1] += ("" if found[-1].endswith("; do") else ";") + f" {line}"
            elif line and not line.startswith("#"):
                found.append(line)
    return found


def entry(page, command):
    """Number of the row of HOW for a command; None when there is none."""
    return next((n for n, (pattern, start, _) in enumerate(HOW) if Path(page).match(pattern) and page.count("/") == pattern.count("/") and
                 command.startswith(start)), None)


def faults(known):
    """What is wrong with HOW, in words; known: {page: commands}."""
    used = set()
    for page, all_of in known.items():
        for command in all_of:
            n = entry(page, command)
            used.add(n)
            if n is None:
                yield f"{page}: `{command}` is run nowhere; say in HOW of tests/checks/page_commands.py where it is"
            elif HOW[n][2] == EXAMPLE and command not in known.get("/".join(command.split()[2].split("/")[:2]) + "/README.md", []):
                yield f"{page}: `{command}` is not on the page of its example"
    tests = "".join(path.read_text() for path in ROOT.glob("tests/**/CMakeLists.txt"))
    for n, (page, start, where) in enumerate(HOW):
        if n not in used:
            yield f"{page}: no command begins with `{start}`; remove it from HOW"
        kind, _, name = where.partition("_")
        if kind in ("check", "case") and not re.search(rf"karst_{kind}\({name} |karst_verification\({name.removeprefix('verify_')} ", tests):
            yield f"HOW: there is no test {where}"
        if where.endswith(".sh") and start.split()[0] not in (ROOT / where).read_text():
            yield f"HOW: {where} does not run {start}"


def run_page(page, all_of, build, full):
    """Runs the commands of a page; returns what went wrong."""
    data = Path(os.environ.get("KARST_TEST_DATA", ROOT / "../shared/data")).resolve()
    environment = {**os.environ, "PATH": f"{build}:{os.environ['PATH']}", "KARST_BUILD": "build/release", "KARST_TEST_DATA": str(data)}
    with tempfile.TemporaryDirectory() as folder:
        here = Path(folder)
        (here / "build").mkdir()
        for name, target in {"build/release": build, **{name: ROOT / name for name in ("inputs", "docs", "python", "tools", ".venv")}}.items():
            (here / name).symlink_to(target)
        for command in [*filter(None, BEFORE.get(page, "").split("; ")), *all_of]:
            if "ketton" in command and not (data / "ketton_128.raw.gz").exists():
                continue
            for old, new in {**ALWAYS, **({} if full else SMALLER)}.items():
                command = command.replace(old, new)
            start = time.monotonic()
            done = subprocess.run(["bash", "-euo", "pipefail", "-c", command], cwd=folder, env=environment, capture_output=True, text=True)
            print(f"{time.monotonic() - start:6.1f} s  {page}: {command[:100]}", flush=True)
            if done.returncode != 0:
                return [f"{page}: `{command}` ends with status {done.returncode}:\n{done.stdout[-1500:]}{done.stderr[-1500:]}"]
    return []


def main():
    build, full = Path(sys.argv[1]).resolve(), "--full" in sys.argv[2:]
    known = {page: commands((ROOT / page).read_text(encoding="utf-8")) for page in pages()}
    canary = {"docs/tour.md": commands("```sh\ntools/none.sh  # x\n```")}
    assert next(faults(canary), "").startswith("docs/tour.md: `tools/none.sh` is run nowhere")
    canary = {"docs/tasks/flow.md": ["build/release/karst run inputs/inertia/none.toml"], "inputs/inertia/README.md": []}
    assert next(faults(canary), "").endswith("is not on the page of its example")
    wrong = list(faults(known))
    for page, all_of in known.items():
        chosen = [c for c in all_of if entry(page, c) is not None and HOW[entry(page, c)][2] in ((HERE, FULL) if full else (HERE,))]
        if chosen:
            wrong += run_page(page, chosen, build, full)
    print("\n".join(wrong))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
