# SPDX-License-Identifier: BSD-3-Clause
# Run by cpack on what is to be packed: what Debian asks of a package beside the files of cmake --install.
set(doc ${CPACK_TEMPORARY_INSTALL_DIRECTORY}/usr/share/doc/karst)
file(RENAME ${doc}/LICENSE ${doc}/copyright)
string(TIMESTAMP now "%a, %d %b %Y %H:%M:%S +0000" UTC)  # SOURCE_DATE_EPOCH, where that is set
file(WRITE ${doc}/changelog.Debian
  "karst (${CPACK_PACKAGE_VERSION}-${CPACK_DEBIAN_PACKAGE_RELEASE}) unstable; urgency=medium\n\n"
  "  * Changes: CHANGELOG.md\n\n -- ${CPACK_PACKAGE_CONTACT}  ${now}\n")
file(RENAME ${doc}/CHANGELOG.md ${doc}/changelog)
file(GLOB pages ${CPACK_TEMPORARY_INSTALL_DIRECTORY}/usr/share/man/man1/*.1)
execute_process(COMMAND gzip -9n ${doc}/changelog ${doc}/changelog.Debian ${pages} COMMAND_ERROR_IS_FATAL ANY)
# zsh of Debian looks in another folder than that of a plain installation
set(share ${CPACK_TEMPORARY_INSTALL_DIRECTORY}/usr/share)
file(MAKE_DIRECTORY ${share}/zsh/vendor-completions)
file(RENAME ${share}/zsh/site-functions/_karst ${share}/zsh/vendor-completions/_karst)
file(REMOVE_RECURSE ${share}/zsh/site-functions)
