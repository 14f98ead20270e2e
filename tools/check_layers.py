#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Checks layers, homes of third-party headers, sizes and licence lines.

    tools/check_layers.py [ROOT]

Prints one line per violation, `file:line: what, and what to do`; the exit status is 1 if there is one.

  layers     base <- grid <- eb <- fields <- {solvers, io}; {ins, transport} on solvers; page and chemistry on base, geometry_import
             on page, image_generator on geometry_import; app on all but the generator.
             Both #include lines and the link lines of the CMakeLists.txt files are checked.
  rooms      sub-folders of a layer include only those before them (ROOMS below); files outside of sub-folders may include all.
  homes      each third-party library is used in one place only (HOMES below).
  sizes      files <= 600 lines; functions <= 60 lines and <= 8 parameters (of clang-formatted C++; clang-tidy's
             readability-function-size checks the same with a real parser); folders of src <= 40 files, and folders with a limit
             on their lines (MAX_FOLDER_LINES).
  licence    SPDX line at the top of every source file, script and build file.
  paths      no paths of one developer's machine.
"""
import collections
import re
import sys
from pathlib import Path

MAX_FILE_LINES = 600
MAX_FUNCTION_LINES = 60
MAX_PARAMETERS = 8
MAX_FOLDER_LINES = {"src/page": 1750}  # docs/decisions/027-who-makes-the-pages.md

# Layer -> direct neighbours below it. What lies below those may be included too.
BELOW = {
    "base": [],
    "grid": ["base"],
    "eb": ["grid"],
    "fields": ["eb"],
    "solvers": ["fields"],
    "io": ["fields"],
    "ins": ["solvers"],
    "transport": ["solvers", "chemistry"],
    "page": ["base"],
    "chemistry": ["base"],
    "geometry_import": ["base", "page"],
    "image_generator": ["geometry_import"],
    "app": ["base", "grid", "eb", "solvers", "io", "ins", "transport", "chemistry", "page", "geometry_import"],
}
BESIDE_SRC = {"geometry_import", "image_generator"}  # the others are folders of src
# What tests of a layer may include besides: images whose truth is known.
TESTS_TOO = {"geometry_import": {"image_generator"}, "app": {"image_generator"}}

# Layer -> its sub-folders from the lowest to the highest: each includes itself and those before it.
ROOMS = {
    "base": ["core", "math", "comm", "file", "trace", "deck"],
    "eb": ["shapes", "cut", "link", "moving"],
    "solvers": ["elliptic", "multigrid", "krylov"],
    "ins": ["operator", "solve", "upscale"],
    "transport": ["volumes", "flow", "regrid", "diffusion", "march", "reactive", "steady", "dispersion"],
    "geometry_import": ["voxels", "read", "file", "prepare", "wall", "segment", "pores", "report"],
    "app": ["deck", "job", "estimate", "output", "reaction", "flow", "transport", "walls", "run", "study", "cli"],
}
# Rooms that do not see each other, though one stands before the other.
APART = {"app": [{"flow", "transport"}, {"flow", "reaction"}, {"walls", "flow"}, {"walls", "transport"}, {"walls", "reaction"}]}
MAX_FOLDER_FILES = 40  # of src

# What is met -> (pattern, where it may be, as the start of the path and its end). Tests of a layer count as the layer.
HOMES = {
    "MPI": (r'#\s*include\s*[<"]mpi\.h|\bMPI_[A-Z]\w*\s*\(', [("src/base/", ""), ("tests/support/", ""), ("tests/programs/", "")]),
    "OpenMP pragmas": (r"#\s*pragma\s+omp|\b_Pragma\s*\(\s*\"omp", [("src/base/comm/parallel.cpp", "")]),
    "the OpenMP library": (r'#\s*include\s*[<"]omp\.h|\bomp_[gs]et_\w+\s*\(', [("src/base/comm/parallel.", ""), ("src/base/parallel.", "")]),
    "PETSc": (r'#\s*include\s*[<"]petsc', [("src/solvers/", "")]),
    "HDF5": (r'#\s*include\s*[<"](hdf5|H5)|\bH5[A-Z]{1,2}[a-z]\w*\s*\(', [("src/io/", ""), ("geometry_import/", ""), ("tests/damage/", "")]),
    "TOML": (r'#\s*include\s*[<"]toml', [("src/base/", ".cpp"), ("src/base/deck/deck_source.hpp", "")]),
    "spdlog": (r'#\s*include\s*[<"]spdlog', [("src/base/", ".cpp")]),
    "CLI11": (r'#\s*include\s*[<"]CLI', [("src/app/", ".cpp"), ("image_generator/tool/", ".cpp"), ("bench/", ".cpp")]),
    "JSON": (r'#\s*include\s*[<"]nlohmann/', [("src/base/file/json.cpp", ""), ("tests/unit/", ".cpp")]),
    "TIFF": (r'#\s*include\s*[<"]tiff', [("geometry_import/", ".cpp"), ("image_generator/", ".cpp"), ("tests/damage/", ".cpp")]),
    "zlib": (r'#\s*include\s*[<"]zlib', [("geometry_import/", ".cpp"), ("src/io/file_checksum", ".cpp"), ("src/io/plot_set", ".cpp"), ("tests/unit/geometry_import/", ""), ("tests/damage/", ".cpp")]),
    "PNG": (r'#\s*include\s*[<"]png', [("geometry_import/", ".cpp"), ("src/page/", ".cpp")]),
    "PHREEQC": (r'#\s*include\s*[<"](PhreeqcRM|IPhreeqc)', [("src/chemistry/phreeqc_engine.cpp", "")]),
    "OTF2": (r'#\s*include\s*[<"]otf2', [("src/base/trace/trace_otf2.cpp", "")]),
    "GoogleTest": (r'#\s*include\s*[<"]g(test|mock)/', [("tests/", "")]),
}

MACHINE_PATH = re.compile(r"(?<![\w.$}/~-])/(?:home|root|Users|work|tmp|scratch|mnt)/\w")
CODE = {".cpp", ".hpp", ".h", ".c", ".cc", ".hh"}
SCRIPTS = {".py", ".sh", ".cmake"}
TEXTS = {".md", ".toml", ".json", ".txt", ".yml", ".yaml"}
CANARIES = {"tests/checks/bad_style.cpp"}  # bad on purpose, for clang-tidy
NOT_OURS = {"build", "out", ".git", ".venv", "__pycache__", ".cache"}
RAW_OUTPUT = {"bench/results.txt"}  # of bench/run.sh, ignored by git


def lowers(layer):
    """The layer itself and all layers below it."""
    found = {layer}
    for below in BELOW[layer]:
        found |= lowers(below)
    return found


def layer_of(path):
    """Layer of a file named relative to the root; tests belong to the layer they test; None for what has none."""
    parts = path.parts
    if parts[:2] == ("tests", "unit"):
        parts = parts[2:] if parts[2] in BESIDE_SRC else ("src", *parts[2:])
    if parts[0] in BESIDE_SRC:
        return parts[0]
    if parts[0] == "src" and len(parts) > 2 and parts[1] in BELOW:
        return parts[1]
    return None


def room_of(path):
    """Sub-folder of a layer that a file (src/eb/cut/x.cpp) or an include (eb/cut/x.hpp) belongs to; None beside the rooms and for tests."""
    parts = path.parts[1:] if path.parts[0] == "src" else path.parts
    return parts[1] if len(parts) > 2 and parts[1] in ROOMS.get(parts[0], []) else None


def as_home(path):
    """Path under which a file is looked up in HOMES: tests/unit/eb/x.cpp counts as src/eb/x.cpp."""
    layer = layer_of(path)
    if path.parts[:2] == ("tests", "unit") and layer:
        return (f"{layer}/" if layer in BESIDE_SRC else f"src/{layer}/") + path.name
    return path.as_posix()


def without_comments(text):
    """C++ text with comments blanked; lines keep their numbers, strings stay."""
    token = re.compile(r'//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\\n])*"', re.S)
    return token.sub(lambda m: re.sub(r"[^\n]", " ", m[0]) if m[0][0] == "/" else m[0], text)


def check_includes(path, lines):
    layer = layer_of(path)
    if layer is None:
        return
    allowed = lowers(layer) | (TESTS_TOO.get(layer, set()) if path.parts[0] == "tests" else set())
    for number, line in enumerate(lines, 1):
        m = re.match(r'\s*#\s*include\s*"([^"]+)"', line)
        if not m:
            continue
        target = m[1].removeprefix("src/").split("/")[0]
        if "/" in m[1] and target in BELOW and target not in allowed:
            yield number, f"layer {layer} includes {m[1]} of layer {target}; it may include {', '.join(sorted(allowed))}"
        rooms, own, other = ROOMS.get(layer, []), room_of(path), room_of(Path(m[1]))
        if target == layer and own and rooms.index(own) < (rooms.index(other) if other else len(rooms)):
            yield number, f"room {own} of layer {layer} includes {m[1]}; it may include {', '.join(rooms[:rooms.index(own) + 1])}"
        if target == layer and {own, other} in APART.get(layer, []):
            yield number, f"room {own} of layer {layer} includes {m[1]} of room {other}: they do not see each other"
        if m[1].startswith("../"):
            yield number, f"include {m[1]} climbs out of its folder; name it from src/"


def check_homes(path, lines):
    names = {path.as_posix(), as_home(path)}
    for what, (pattern, places) in HOMES.items():
        if any(name.startswith(start) and name.endswith(end) for name in names for start, end in places):
            continue
        for number, line in enumerate(lines, 1):
            if re.search(pattern, line):
                homes = " ".join(start + ("*" + end if end else "") for start, end in places)
                yield number, f"{what} outside its home; it may be met in: {homes}"


def parameters_of(head):
    """Number of parameters of a function head, up to its opening brace; 0 when none is recognised."""
    head = re.sub(r'"(?:\\.|[^"\\])*"', '""', head)
    start = head.find("(", head.find("operator()") + len("operator()") if "operator()" in head else 0)
    if start < 0:
        return 0
    depth, commas = 0, 0
    for i, c in enumerate(head[start:], start):
        if c in "([{<":
            depth += 1
        elif c in ")]}" or (c == ">" and head[i - 1] != "-"):
            depth -= 1
            if depth == 0:
                return commas + 1 if head[start + 1:i].strip() else 0
        elif c == "," and depth == 1:
            commas += 1
    return 0


def check_functions(lines):
    """Functions of clang-formatted code: a head at column 0 (or 2 inside a class) ending in `{`, and its `}` line."""
    head_start = None  # (line number, indentation)
    opened = {}  # indentation -> (line number, head) of a body that is open
    for number, line in enumerate(lines, 1):
        indent = len(line) - len(line.lstrip())
        text = line.strip()
        if not text:
            head_start = None
            continue
        if indent in opened and re.match(r"\}", text):
            first, head = opened.pop(indent)
            is_function = "(" in head and not re.match(
                r"(namespace|class|struct|enum|union|extern|if|for|while|switch|do|else|return)\b", head)
            if is_function and number - first + 1 > MAX_FUNCTION_LINES:
                yield first, f"function of {number - first + 1} lines; at most {MAX_FUNCTION_LINES}"
            if is_function and parameters_of(head) > MAX_PARAMETERS:
                yield first, f"function with {parameters_of(head)} parameters; at most {MAX_PARAMETERS}: make a struct"
            head_start = None
            continue
        in_class = re.match(r"(template\s*<.*>\s*)?(class|struct)\b", opened[0][1]) if 0 in opened else None
        if (indent == 0 or (indent == 2 and in_class)) and head_start is None and not text.startswith("#"):
            head_start = (number, indent)
        if head_start and text.endswith("{"):
            first, at = head_start
            opened[at] = (first, " ".join(part.strip() for part in lines[first - 1:number]))
            head_start = None
        elif head_start and (text.endswith((";", "}")) or (text.endswith(":") and indent <= 2)):
            head_start = None


def check_licence(path, lines):
    top = lines[:3] if lines and lines[0].startswith("#!") else lines[:1]
    if not any("SPDX-License-Identifier: BSD-3-Clause" in line for line in top):
        yield 1, "no licence line; the first line says SPDX-License-Identifier: BSD-3-Clause"


def check_paths(lines):
    for number, line in enumerate(lines, 1):
        if MACHINE_PATH.search(line):
            yield number, "path of one machine; name files relative to the project"


def check_links(path, text):
    """CMakeLists.txt of a layer: its libraries link direct neighbours below only."""
    layer = layer_of(path)
    if layer is None:
        return
    for m in re.finditer(r"\b(?:karst_layer|target_link_libraries)\s*\(([^)]*)\)", text):
        number = text[:m.start()].count("\n") + 1
        words = re.sub(r"#[^\n]*", "", m[1]).split()
        if not words or (m[0].startswith("target") and words[0] != f"karst_{layer}"):
            continue
        for word in words[1:]:
            target = word.removeprefix("karst_")
            if word.startswith("karst_") and target in BELOW and target not in BELOW[layer]:
                allowed = ", ".join(BELOW[layer]) or "no layer"
                yield number, f"layer {layer} links {target}; it may link {allowed}"


def check_file(root, path):
    """Yields (line, text) for every violation in one file, named relative to the root."""
    text = (root / path).read_text(encoding="utf-8", errors="replace")
    lines = text.splitlines()
    is_code = path.suffix in CODE
    is_script = path.suffix in SCRIPTS or path.name == "CMakeLists.txt" or (lines and lines[0].startswith("#!"))
    if is_code or is_script:
        if len(lines) > MAX_FILE_LINES:
            yield len(lines), f"{len(lines)} lines; at most {MAX_FILE_LINES}: split by purpose"
        yield from check_licence(path, lines)
    yield from check_paths(lines)
    if is_code and path.as_posix() not in CANARIES:
        bare = without_comments(text).splitlines()
        yield from check_includes(path, bare)
        yield from check_homes(path, bare)
        yield from check_functions(bare)
    if path.name == "CMakeLists.txt":
        yield from check_links(path, text)


def check_folders(root, paths):
    """Yields (folder, text) for folders with more lines or files of code than they may have."""
    for folder, most in MAX_FOLDER_LINES.items():
        files = [path for path in paths if path.suffix in CODE and path.is_relative_to(folder)]
        lines = sum(len((root / path).read_text(encoding="utf-8", errors="replace").splitlines()) for path in files)
        if lines > most:
            yield folder, f"{lines} lines of code; at most {most}: shorten, or change the decision that says so"
    counts = collections.Counter(path.parent for path in paths if path.suffix in CODE and path.parts[0] == "src")
    for folder, count in sorted(counts.items()):
        if count > MAX_FOLDER_FILES:
            yield folder.as_posix(), f"{count} files of code; at most {MAX_FOLDER_FILES}: a room (ROOMS) for what belongs together"


def files_of(root):
    for file in sorted(root.rglob("*")):
        path = file.relative_to(root)
        if any(part in NOT_OURS or part.startswith("build") for part in path.parts[:-1]) or path.as_posix() in RAW_OUTPUT:
            continue
        known = path.suffix in CODE | SCRIPTS | TEXTS or path.name in ("CMakeLists.txt", "run")
        if known and file.is_file() and not file.is_symlink():
            yield path


def main(arguments):
    root = Path(arguments[0] if arguments else Path(__file__).parent.parent).resolve()
    if not (root / "src").is_dir():
        sys.exit(f"{root}: no folder src here; give the root of the project")
    n_violations = 0
    paths = list(files_of(root))
    for path in paths:
        for number, what in check_file(root, path):
            n_violations += 1
            print(f"{path}:{number}: {what}")
    for folder, what in check_folders(root, paths):
        n_violations += 1
        print(f"{folder}:1: {what}")
    print(f"{len(paths)} files, {n_violations} violations", file=sys.stderr)
    return 1 if n_violations else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
