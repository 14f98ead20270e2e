#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Canary of tools/check_layers.py: a small clean tree passes, and each single violation makes it fail."""
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
SPDX = "// SPDX-License-Identifier: BSD-3-Clause\n"
HASH = "# SPDX-License-Identifier: BSD-3-Clause\n"

CLEAN = {
    "src/base/comm/comm.hpp": SPDX + "#include <mpi.h>\nvoid barrier() { MPI_Barrier(0); }\n",
    "src/base/comm/parallel.cpp": SPDX + "#pragma omp parallel for\n",
    "src/base/deck/deck.cpp": SPDX + "#include <toml++/toml.h>\n#include <spdlog/spdlog.h>\n",
    "src/grid/box.hpp": SPDX + '#include "base/comm/comm.hpp"\n// MPI_Send( in a comment is no call\n',
    "src/eb/cut.cpp": SPDX + '#include "base/comm/comm.hpp"\n#include "grid/box.hpp"\n',
    "src/eb/cut/cell.cpp": SPDX + '#include "eb/shapes/level_set.hpp"\n#include "eb/cut/edge.hpp"\n',
    "src/eb/geometry.cpp": SPDX + '#include "eb/link/home.hpp"\n',
    "src/io/plot.cpp": SPDX + '#include <hdf5.h>\n#include "eb/cut.hpp"\nauto f = H5Fcreate(MPI_INFO_NULL);\n',
    "src/solvers/krylov/krylov.cpp": SPDX + "#include <petscksp.h>\n",
    "src/app/cli/main.cpp": SPDX + '#include "io/plot.hpp"\n#include "solvers/krylov/krylov.hpp"\n#include "geometry_import/raw.hpp"\n',
    "geometry_import/tiff.cpp": SPDX + '#include <tiffio.h>\n#include <zlib.h>\n#include "base/comm/comm.hpp"\n',
    "geometry_import/report/html.cpp": SPDX + '#include "page/chart.hpp"\n#include "geometry_import/read/raw.hpp"\n',
    "src/page/png.cpp": SPDX + '#include <png.h>\n#include "base/comm/comm.hpp"\n',
    "image_generator/rock.cpp": SPDX + '#include <tiffio.h>\n#include "geometry_import/tiff.hpp"\n',
    "tests/unit/geometry_import/test_rock.cpp": SPDX + '#include "image_generator/rock.hpp"\n',
    "tests/unit/io/test_plot.cpp": SPDX + '#include <gtest/gtest.h>\n#include <hdf5.h>\n#include "io/plot.hpp"\n',
    "src/eb/CMakeLists.txt": HASH + "karst_layer(eb LINK karst_grid PRIVATE PkgConfig::PETSC)\n",
    "src/grid/eight.cpp": SPDX + "int f(int a, int b, int c, int d,\n      int e, int g, int h, int i) {\n" + "  g();\n" * 57 + "}\n",
    "src/eb/calls.cpp": SPDX + "int f(int a) {\n  auto text = format(1, 2, 3, 4,\n                     5, 6, 7, 8, 9);\n  for (int b : c) {\n  }\n}\n",
    "docs/tour.md": "The folder src/base is the place for MPI.\n",
}

BAD = {
    "upward include": ("src/grid/bad.hpp", SPDX + '#include "eb/cut.hpp"\n'),
    "sideways include": ("src/io/bad.cpp", SPDX + '#include "solvers/krylov/krylov.hpp"\n'),
    "import above base": ("geometry_import/bad.cpp", SPDX + '#include "grid/box.hpp"\n'),
    "import includes the generator": ("geometry_import/bad.cpp", SPDX + '#include "image_generator/rock.hpp"\n'),
    "app includes the generator": ("src/app/bad.cpp", SPDX + '#include "image_generator/rock.hpp"\n'),
    "page includes an import": ("src/page/bad.cpp", SPDX + '#include "geometry_import/raw.hpp"\n'),
    "room of the import includes a higher room": ("geometry_import/read/bad.cpp", SPDX + '#include "geometry_import/segment/clean.hpp"\n'),
    "layer on import": ("src/eb/bad.cpp", SPDX + '#include "geometry_import/raw.hpp"\n'),
    "room includes a higher room": ("src/eb/cut/bad.cpp", SPDX + '#include "eb/link/pieces.hpp"\n'),
    "room includes a file beside it": ("src/eb/cut/bad.cpp", SPDX + '#include "eb/geometry.hpp"\n'),
    "room includes one that it does not see": ("src/app/transport/bad.cpp", SPDX + '#include "app/flow/flow_job.hpp"\n'),
    "climbing include": ("src/eb/bad.cpp", SPDX + '#include "../grid/box.hpp"\n'),
    "test of a layer includes upward": ("tests/unit/grid/bad.cpp", SPDX + '#include "eb/cut.hpp"\n'),
    "mpi.h": ("src/grid/bad.cpp", SPDX + "#include <mpi.h>\n"),
    "MPI call": ("src/eb/bad.cpp", SPDX + "int r = MPI_Send(0);\n"),
    "OpenMP pragma": ("src/base/bad.cpp", SPDX + "#pragma omp parallel\n"),
    "OpenMP call": ("src/grid/bad.cpp", SPDX + "int n = omp_get_max_threads();\n"),
    "PETSc": ("src/eb/bad.cpp", SPDX + "#include <petscvec.h>\n"),
    "HDF5": ("src/app/bad.cpp", SPDX + "#include <hdf5.h>\n"),
    "OTF2": ("src/base/bad.cpp", SPDX + "#include <otf2/otf2.h>\n"),
    "HDF5 call": ("src/grid/bad.cpp", SPDX + "auto f = H5Fopen(name);\n"),
    "toml in a header": ("src/base/bad.hpp", SPDX + "#include <toml++/toml.h>\n"),
    "spdlog": ("src/eb/bad.cpp", SPDX + "#include <spdlog/spdlog.h>\n"),
    "zlib": ("src/io/bad.cpp", SPDX + "#include <zlib.h>\n"),
    "TIFF in a header": ("geometry_import/bad.hpp", SPDX + "#include <tiffio.h>\n"),
    "PNG": ("src/io/bad.cpp", SPDX + "#include <png.h>\n"),
    "JSON": ("src/app/bad.cpp", SPDX + "#include <nlohmann/json.hpp>\n"),
    "long file": ("src/eb/bad.cpp", SPDX + "int x;\n" * 600),
    "long script": ("tools/bad.sh", "#!/bin/sh\n" + HASH + "true\n" * 600),
    "long function": ("src/eb/bad.cpp", SPDX + "void f() {\n" + "  g();\n" * 59 + "}\n"),
    "long method": ("src/eb/bad.hpp", SPDX + "class A {\n  void f() const {\n" + "    g();\n" * 59 + "  }\n};\n"),
    "nine parameters": ("src/eb/bad.cpp", SPDX + "void f(int a, int b, int c, int d, int e,\n       int g, int h, int i, std::pair<int, int> j) {\n}\n"),
    "no licence line": ("src/eb/bad.cpp", "int x;\n"),
    "script without licence line": ("tools/bad.py", "#!/usr/bin/env python3\nprint()\n"),
    "machine path": ("docs/bad.md", "see /" + "home/somebody/karst\n"),
    "upward link": ("src/grid/CMakeLists.txt", HASH + "karst_layer(grid LINK karst_base\n  karst_eb)\n"),
    "link added later": ("src/io/CMakeLists.txt", HASH + "karst_layer(io LINK karst_fields)\ntarget_link_libraries(karst_io PRIVATE karst_solvers)\n"),
}


def check(files):
    """Exit status and printed violations of the check on a tree of these files."""
    with tempfile.TemporaryDirectory() as folder:
        for name, text in files.items():
            file = Path(folder) / name
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text)
        done = subprocess.run([sys.executable, ROOT / "tools/check_layers.py", folder], capture_output=True, text=True)
        return done.returncode, done.stdout.splitlines()


class CheckLayers(unittest.TestCase):
    def test_clean_tree_passes(self):
        self.assertEqual(check(CLEAN), (0, []))

    def test_every_violation_is_found_where_it_is(self):
        for what, (name, text) in BAD.items():
            with self.subTest(what):
                status, violations = check(CLEAN | {name: text})
                self.assertEqual(status, 1)
                self.assertEqual(len(violations), 1, violations)
                self.assertTrue(violations[0].startswith(name + ":"), violations)

    def test_frozen_folder_may_not_grow(self):
        page = {f"src/page/{name}.hpp": SPDX + "int x;\n" * 436 for name in "abcd"}  # 1748 lines
        self.assertEqual(check(page | {"src/page/e.cpp": SPDX + "int x;\n", "src/page/notes.md": "no code\n" * 9}), (0, []))
        status, violations = check(page | {"src/page/e.cpp": SPDX + "int x;\n" * 2})
        self.assertEqual((status, len(violations)), (1, 1), violations)
        self.assertTrue(violations[0].startswith("src/page:1: 1751 lines"), violations)

    def test_folder_of_many_files_wants_rooms(self):
        files = {f"src/eb/file_{n}.cpp": SPDX + "int x;\n" for n in range(40)}
        self.assertEqual(check(files), (0, []))
        status, violations = check(files | {"src/eb/one_more.cpp": SPDX + "int x;\n"})
        self.assertEqual((status, len(violations)), (1, 1), violations)
        self.assertTrue(violations[0].startswith("src/eb:1: 41 files"), violations)

    def test_folder_without_sources_is_refused(self):
        self.assertNotEqual(check({"README.md": "nothing\n"})[0], 0)


if __name__ == "__main__":
    unittest.main()
