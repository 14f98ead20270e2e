# SPDX-License-Identifier: BSD-3-Clause
"""Recipe of Karst for Spack, to build it with the compiler, MPI and libraries of a cluster (docs/install.md)."""
from spack.package import *


class Karst(CMakePackage):
    """Pore-scale flow and reactive transport from images of rocks."""

    homepage = "https://karst.example.org"
    license("BSD-3-Clause")

    version("main")  # of a clone: spack dev-build, or spack develop --path CLONE

    variant("native", default=False, description="compile for the processor that builds (Spack's target= otherwise decides)")
    variant("int64", default=False, description="64-bit indices in PETSc: more than 2^31 unknowns")
    variant("otf2", default=False, description="traces for Vampir and Scalasca")

    depends_on("c", type="build")
    depends_on("cxx", type="build")
    depends_on("cmake@3.25:", type="build")
    depends_on("ninja", type="build")
    depends_on("pkgconfig", type="build")
    depends_on("mpi")
    depends_on("petsc@3.18:+mpi~complex")
    depends_on("petsc+int64", when="+int64")
    depends_on("petsc~int64", when="~int64")
    depends_on("hdf5@1.10.8:+mpi")
    depends_on("libtiff")
    depends_on("libpng")
    depends_on("zlib-api")
    depends_on("fmt@9:")
    depends_on("spdlog@1.10:")
    depends_on("cli11@2.1:")
    depends_on("nlohmann-json@3.11:")
    depends_on("tomlplusplus@3.3:")
    depends_on("googletest@1.12:")
    depends_on("otf2@3:", when="+otf2")

    conflicts("%gcc@:11", msg="C++20: g++ 12 or later")
    generator("ninja")

    def cmake_args(self):
        return [
            self.define_from_variant("KARST_NATIVE", "native"),
            self.define_from_variant("KARST_OTF2", "otf2"),
        ]
