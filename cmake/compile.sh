#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# The compiler's command is its arguments. Compiled headers (.gch) of before are removed first: CMake names their header by `-include`
# while they are compiled, so g++ would take the old ones for it, and where a header of Karst has changed all that follows ends in
# "redefinition". It compares the bytes of a header and ccache, by default, its text without comments: of compiled headers that it
# keeps it has to compare the files (CCACHE_DEPEND).
for word; do
  case $word in
    *.gch)
      rm -f "$word"
      export CCACHE_DEPEND=1
      ;;
  esac
done
exec "$@"
