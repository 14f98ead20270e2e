# SPDX-License-Identifier: BSD-3-Clause
# Run by every build: writes the commit that is built into OUTPUT, a header, and leaves the file alone when it is the
# same. Needs SOURCE (folder of the project) and GIT (the program, empty without one).
cmake_minimum_required(VERSION 3.25)
set(id "unknown")
if(GIT)
  execute_process(COMMAND ${GIT} -C ${SOURCE} describe --always --abbrev=12 --exclude=* --dirty=+
    OUTPUT_VARIABLE out OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET RESULT_VARIABLE failed)
  if(NOT failed)
    set(id "${out}")
  endif()
endif()
file(CONFIGURE OUTPUT ${OUTPUT} CONTENT "#define KARST_GIT_ID \"@id@\"\n" @ONLY)
