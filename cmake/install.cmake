# SPDX-License-Identifier: BSD-3-Clause
# cmake --install BUILD --prefix P: P/bin/karst, its databases in P/share/karst, documentation and decks in P/share/doc/karst,
# completion and manual pages from what the programs say of themselves. The program finds its databases from where it lies, so
# that P may be moved. cpack makes a package of the same (tools/package.sh).
include(GNUInstallDirs)
set(doc ${CMAKE_INSTALL_DATADIR}/doc/karst)
install(TARGETS karst karst-make-image)
set(KARST_FASTER "" CACHE FILEPATH "the program compiled for x86-64-v3 (preset package-v3), to be packed with that for all processors")
if(KARST_FASTER)  # where faster_program() looks
  install(PROGRAMS ${KARST_FASTER} DESTINATION libexec RENAME karst-x86-64-v3)
endif()
install(DIRECTORY databases DESTINATION ${CMAKE_INSTALL_DATADIR}/karst)
install(FILES LICENSE README.md CHANGELOG.md CONTRIBUTING.md CITATION.cff DESTINATION ${doc})
install(DIRECTORY docs inputs DESTINATION ${doc} PATTERN site EXCLUDE)
install(CODE "set(bin \"\${CMAKE_INSTALL_PREFIX}/${CMAKE_INSTALL_BINDIR}\")
set(share \"\${CMAKE_INSTALL_PREFIX}/${CMAKE_INSTALL_DATADIR}\")
set(version ${PROJECT_VERSION})
include(\"${PROJECT_SOURCE_DIR}/cmake/install_words.cmake\")")

set(KARST_CONTACT "Karst developers <karst@lists.example.org>" CACHE STRING "who answers for packages: name <mail address>")
set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME karst)
set(CPACK_PACKAGE_CONTACT "${KARST_CONTACT}")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "pore-scale flow and reactive transport from images of rocks")
set(CPACK_PACKAGE_DESCRIPTION_FILE ${PROJECT_SOURCE_DIR}/packaging/description.txt)
set(CPACK_STRIP_FILES ON)
set(CPACK_INSTALL_DEFAULT_DIRECTORY_PERMISSIONS OWNER_READ OWNER_WRITE OWNER_EXECUTE GROUP_READ GROUP_EXECUTE WORLD_READ WORLD_EXECUTE)
set(CPACK_PRE_BUILD_SCRIPTS ${PROJECT_SOURCE_DIR}/cmake/debian_files.cmake)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_RELEASE 1)
set(CPACK_DEBIAN_PACKAGE_SECTION science)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_DEPENDS openmpi-bin)  # also a program without mpirun starts a part of it
execute_process(COMMAND dpkg-query -S ${KARST_PETSC_FILE} OUTPUT_VARIABLE petsc_package ERROR_QUIET)
if(petsc_package MATCHES "^([^:]+):")  # not linked, so that no tool finds it
  string(APPEND CPACK_DEBIAN_PACKAGE_DEPENDS ", ${CMAKE_MATCH_1}")
endif()
set(CPACK_DEBIAN_PACKAGE_SUGGESTS "paraview, python3-h5py")
include(CPack)
