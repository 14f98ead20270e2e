#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# The compiler's command is its arguments. Compiled headers (.gch) of before are removed first: CMake names their header by `-include`
# while they are compiled, so g++ would take the old ones for it, and where a header of Karst has changed all that follows ends in
# "redefinition".
for word; do
  case $word in *.gch) rm -f "$word" ;; esac
done
exec "$@"
