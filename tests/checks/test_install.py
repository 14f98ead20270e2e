# SPDX-License-Identifier: BSD-3-Clause
"""The deliverables: an installed tree, a Debian package, completion of shells, the container, the recipe for Spack, the citation.

usage: test_install.py BUILD
"""
import ast
import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
BUILD = Path(sys.argv.pop(1)).resolve()
VERSION = re.search(r"project\(karst VERSION (\S+)", (ROOT / "CMakeLists.txt").read_text())[1]
DIFFUSION = "grid = { cells = [16, 4, 4], size = [4, 1, 1] }\ndiffusion.axes = [\"x\"]\noutput.plot = []\n"
DECK = 'chemistry.database = "mine.dat"\n[[chemistry.solution]]\npH = 7\ntotals = ["Na 0.1", "Cl 0.1 charge"]\n'


def call(*words, **options):
    done = subprocess.run([str(word) for word in words], capture_output=True, text=True, **options)
    assert done.returncode == 0, (words, done.stdout[-2000:], done.stderr[-2000:])
    return done.stdout


class Tree(unittest.TestCase):
    """cmake --install."""

    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        first = Path(cls.folder.name) / "first"
        call("cmake", "--install", BUILD, "--prefix", first)
        cls.prefix = first.rename(first.with_name("moved"))

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()

    def test_program_says_its_version_and_finds_databases_where_it_lies(self):
        karst = self.prefix / "bin/karst"
        self.assertTrue(call(karst, "--version").startswith(f"karst {VERSION}"))
        self.assertIn("grid.box", call(karst, "help", "grid"))
        deck = Path(self.folder.name) / "deck.toml"
        deck.write_text(DECK)
        done = subprocess.run([karst, "speciate", deck], capture_output=True, text=True)
        self.assertEqual(done.returncode, 1)
        self.assertIn(str(self.prefix / "share/karst/databases"), done.stderr)
        shutil.copy(self.prefix / "share/karst/databases/phreeqc.dat", self.prefix / "share/karst/databases/mine.dat")
        self.assertIn("Na+", call(karst, "speciate", deck))

    def test_licence_documentation_decks_and_pages(self):
        doc = self.prefix / "share/doc/karst"
        self.assertEqual((doc / "LICENSE").read_text(), (ROOT / "LICENSE").read_text())
        for name in ("README.md", "CITATION.cff", "docs/tutorial.md", "docs/images/tutorial_wall.png", "inputs/permeability/permeability.toml"):
            self.assertTrue((doc / name).is_file(), name)
        for program in ("karst", "karst-make-image"):
            page = (self.prefix / f"share/man/man1/{program}.1").read_text()
            self.assertIn("\\-\\-help", page)
            self.assertNotRegex(page, r"(?m)^'")

    def test_opens_petsc_where_a_solve_needs_it(self):
        karst, folder = self.prefix / "bin/karst", Path(self.folder.name)
        (folder / "diffusion.toml").write_text(DIFFUSION)
        alone = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1", **os.environ}
        opened = {}
        for words in (["--version"], ["run", folder / "diffusion.toml", "--out", folder / "diffusion", "-j", "1"]):
            done = subprocess.run([karst, *words], capture_output=True, text=True, env={**alone, "LD_DEBUG": "files"})
            self.assertEqual(done.returncode, 0, done.stdout[-2000:])
            opened[words[0]] = re.search(r"calling init: \S*libpetsc", done.stderr) is not None
        self.assertEqual(opened, {"--version": False, "run": True})

    def test_completions_are_there(self):
        for name in ("bash-completion/completions/karst", "zsh/site-functions/_karst"):
            self.assertIn("flow.model", (self.prefix / "share" / name).read_text())


class Completion(unittest.TestCase):
    def asked(self, shell, script):
        """What the shell offers for each of these lines."""
        lines = ["karst ", "karst che", "karst run ", "karst run d.toml flow.mod", "karst run d.toml flow.model=st", "karst run d --overw",
                 "karst run -j 2 d grid.b", "karst import a --segment m", "karst help geometry.solid.sha", "karst run -j "]
        with tempfile.TemporaryDirectory() as folder:
            (Path(folder) / "rock.tif").touch()
            (Path(folder) / "completion").write_text(call(BUILD / "karst", "completion", shell))
            (Path(folder) / "ask").write_text(script)
            told = call(shell, *(["-f"] if shell == "zsh" else ["--norc"]), "ask", *lines, cwd=folder).splitlines()
        return dict(zip(lines, (set(line.split()) for line in told), strict=True))

    def check(self, offers, key):
        commands = set(re.findall(r"^  (\w+) ", call(BUILD / "karst", "--help").split("Subcommands:")[1].split("Examples")[0], re.M))
        self.assertGreaterEqual(offers["karst "], commands)
        self.assertEqual(offers["karst che"], {"check"})
        self.assertIn("rock.tif", offers["karst run "])
        self.assertEqual(offers["karst run d.toml flow.mod"], {"flow.model="})
        self.assertEqual(offers["karst run d.toml flow.model=st"], {f"{key}stokes", f"{key}steady"})
        self.assertEqual(offers["karst run d --overw"], {"--overwrite"})
        self.assertEqual(offers["karst run -j 2 d grid.b"], {"grid.box="})
        self.assertEqual(offers["karst import a --segment m"], {"multi-otsu"})
        self.assertEqual(offers["karst help geometry.solid.sha"], {"geometry.solid.shape"})
        self.assertEqual(offers["karst run -j "], set())

    def test_bash(self):
        offers = self.asked("bash", """. ./completion
for COMP_LINE; do COMP_POINT=${#COMP_LINE} COMPREPLY=(); _karst; echo "${COMPREPLY[*]}"; done
""")
        self.check(offers, "")

    def test_zsh(self):
        if not shutil.which("zsh"):
            self.skipTest("zsh is not installed")
        # zsh itself parts the line and takes of what is offered what begins as the word
        offers = self.asked("zsh", """compdef() { : }
compadd() { print -rl -- ${(M)${(P)@[-1]}:#$words[CURRENT]*} }
_files() { print rock.tif }
. ./completion
for line; do words=(${=line}); [[ $line == *' ' ]] && words+=(''); CURRENT=$#words; print -- $(_karst); done
""")
        self.check(offers, "flow.model=")


@unittest.skipUnless(shutil.which("dpkg-deb") and shutil.which("dpkg-shlibdeps"), "no tools for Debian packages")
class Package(unittest.TestCase):
    def test_contents_dependencies_and_a_first_word(self):
        with tempfile.TemporaryDirectory() as folder:
            call("cpack", "--config", BUILD / "CPackConfig.cmake", "-B", folder, "-D", "CPACK_DEBIAN_COMPRESSION_TYPE=gzip")
            package = next(Path(folder).glob(f"karst_{VERSION}-1_*.deb"))
            about = call("dpkg-deb", "-f", package)
            depends = re.search(r"^Depends: (.*)$", about, re.M)[1]
            for name in ("openmpi-bin", "libopenmpi3", "libhdf5-openmpi", "libpetsc-real", "libtiff", "libpng16", "libgomp1", "libc6"):
                self.assertIn(name, depends)
            self.assertRegex(about, r"(?m)^Section: science$")
            listed = call("dpkg-deb", "-c", package).splitlines()
            paths = {line.split()[5].removeprefix("./"): line.split()[0] for line in listed}
            for name in ("usr/bin/karst", "usr/bin/karst-make-image", "usr/share/karst/databases/phreeqc.dat", "usr/share/doc/karst/copyright",
                         "usr/share/doc/karst/changelog.Debian.gz", "usr/share/man/man1/karst.1.gz", "usr/share/zsh/vendor-completions/_karst"):
                self.assertIn(name, paths)
            self.assertTrue(all(name.startswith("usr/") for name in paths if name))
            self.assertEqual({line.split()[1] for line in listed}, {"root/root"})
            self.assertEqual({mode for name, mode in paths.items() if not name.startswith(("usr/bin/k", "usr/libexec/k"))}, {"drwxr-xr-x", "-rw-r--r--"})
            call("dpkg-deb", "-x", package, Path(folder) / "root")
            self.assertIn("grid.box", call(Path(folder) / "root/usr/bin/karst", "help", "grid"))


def stages(dockerfile):
    """Instructions of each stage: [(word, rest), ...], lines that go on joined."""
    text = re.sub(r"\\\n", " ", "\n".join(line for line in dockerfile.splitlines() if line.strip() and not line.startswith("#")))
    found = []
    for line in text.splitlines():
        word, _, rest = line.partition(" ")
        if word == "FROM":
            found.append([])
        found[-1].append((word, " ".join(rest.split())))
    return found


def faults(dockerfile, root):
    """What is wrong with a Dockerfile of two or more stages, in words."""
    known, parts = [], stages(dockerfile)
    for number, stage in enumerate(parts):
        base = stage[0][1].split()
        if base[0] not in known and (":" not in base[0] or base[0].endswith(":latest")):
            yield f"{base[0]}: no version"
        for word, rest in stage:
            if word not in ("FROM", "WORKDIR", "COPY", "RUN", "USER", "ENTRYPOINT", "CMD", "ENV", "LABEL"):
                yield f"{word} is not wanted here"
            if "apt-get install" in rest and not ("-y" in rest and "--no-install-recommends" in rest and "apt-get update" in rest and
                                                  "rm -rf /var/lib/apt/lists" in rest):
                yield "apt-get install without -y, --no-install-recommends, apt-get update before or the removal of the lists after it"
            if word == "WORKDIR" and not rest.startswith("/"):
                yield f"WORKDIR {rest} is relative"
            if word == "COPY":
                source = re.match(r"--from=(\w+)", rest)
                if source and source[1] not in known:
                    yield f"COPY from {source[1]}, which is no stage before"
                for name in [] if source else rest.split()[:-1]:
                    if not (root / name).exists():
                        yield f"COPY {name}: is not there"
            if word == "RUN" and rest.startswith("tools/") and not os.access(root / rest.split()[0], os.X_OK):
                yield f"RUN {rest}: no such program"
            if word in ("ENTRYPOINT", "CMD") and not re.fullmatch(r'\["[^"]*"(, "[^"]*")*\]', rest):
                yield f"{word} {rest}: not in the form of a list"
        known += [base[2]] if len(base) == 3 else [str(number)]
    if len(parts) < 2:
        yield "one stage alone: what builds would be shipped"
    users = [rest for word, rest in parts[-1] if word == "USER"]
    if not users or users[-1] in ("root", "0"):
        yield "runs as root"


class Container(unittest.TestCase):
    def test_dockerfile(self):
        self.assertEqual(list(faults((ROOT / "packaging/Dockerfile").read_text(), ROOT)), [])

    def test_canary(self):
        bad = 'FROM debian AS a\nADD x /x\nRUN apt-get install gcc\nCOPY nothing /\nWORKDIR here\nFROM debian:12\nCOPY --from=b /x /x\nENTRYPOINT karst\nUSER root\n'
        told = "\n".join(faults(bad, ROOT))
        for word in ("debian: no version", "ADD is not", "apt-get install without", "COPY nothing", "WORKDIR here", "COPY from b", "ENTRYPOINT karst", "runs as root"):
            self.assertIn(word, told)


class Recipe(unittest.TestCase):
    """That for Spack, which is not there to build it: its syntax, its options, and that it names all that CMake looks for."""

    def test_options_and_dependencies(self):
        text = (ROOT / "packaging/spack/package.py").read_text()
        calls = [node for node in ast.walk(ast.parse(text)) if isinstance(node, ast.Call) and isinstance(node.func, ast.Name | ast.Attribute)]
        words = {}
        for node in calls:
            name = node.func.id if isinstance(node.func, ast.Name) else node.func.attr
            words.setdefault(name, []).append([word.value for word in node.args if isinstance(word, ast.Constant)])
        variants = {variant for variant, *_ in words["variant"]}
        for option, variant in words["define_from_variant"]:
            self.assertIn(f"option({option} ", (ROOT / "CMakeLists.txt").read_text())
            self.assertIn(variant, variants)
        depends = {re.match(r"[\w-]+", package)[0].replace("-", "_") for package, in words["depends_on"]}
        looked_for = re.findall(r"(?:find_package|pkg_check_modules)\((\w+)", (ROOT / "cmake/dependencies.cmake").read_text())
        names = {"tiff": "libtiff", "gtest": "googletest", "openmp": "cxx"}
        self.assertLessEqual({names.get(name.lower(), name.lower()) for name in looked_for} - {"phreeqcrm"}, depends)


class Citation(unittest.TestCase):
    def test_required_fields_and_version(self):
        text = (ROOT / "CITATION.cff").read_text()
        fields = dict(re.findall(r"^([\w-]+): ?(.*)$", text, re.M))
        for name in ("cff-version", "message", "title", "authors"):  # of Citation File Format 1.2.0
            self.assertIn(name, fields)
        self.assertEqual((fields["cff-version"], fields["version"], fields["license"], fields["type"]), ("1.2.0", VERSION, "BSD-3-Clause", "software"))
        self.assertRegex(text, r"authors:\n  - name: \S")


if __name__ == "__main__":
    unittest.main()
