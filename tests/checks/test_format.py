#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Canary of .clang-format and tools/format.sh --check: a badly formatted file is reported, a formatted one is not."""
import shutil
import subprocess
import tempfile
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
GOOD = "// SPDX-License-Identifier: BSD-3-Clause\nint f(int* a) { return *a; }\n"
BAD = "// SPDX-License-Identifier: BSD-3-Clause\nint f( int *a )\n{\n    return *a;\n}\n"


def check(text):
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        for part in ("src", "geometry_import", "image_generator", "bench", "tests", "tools"):
            (root / part).mkdir()
        shutil.copy(ROOT / ".clang-format", root)
        shutil.copy(ROOT / "tools/format.sh", root / "tools")
        (root / "src/a.cpp").write_text(text)
        done = subprocess.run([root / "tools/format.sh", "--check"], capture_output=True, text=True)
        return done.returncode, done.stdout


class Format(unittest.TestCase):
    def test_formatted_file_passes(self):
        self.assertEqual(check(GOOD), (0, ""))

    def test_badly_formatted_file_is_named(self):
        status, out = check(BAD)
        self.assertEqual(status, 1)
        self.assertIn("src/a.cpp", out)


if __name__ == "__main__":
    unittest.main()
