# SPDX-License-Identifier: BSD-3-Clause
# Uses ccache when it is installed and no other launcher was named. Files compiled with the headers of cmake/layers.cmake
# are only kept when ccache may overlook that macros of those headers could differ; their content it does compare.
find_program(KARST_CCACHE ccache)
mark_as_advanced(KARST_CCACHE)
if(KARST_CCACHE AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  set(CMAKE_C_COMPILER_LAUNCHER ${KARST_CCACHE})
  set(CMAKE_CXX_COMPILER_LAUNCHER ${KARST_CCACHE})
endif()
if(CMAKE_CXX_COMPILER_LAUNCHER MATCHES "ccache$")
  list(PREPEND CMAKE_CXX_COMPILER_LAUNCHER env CCACHE_SLOPPINESS=pch_defines,time_macros)
endif()
list(PREPEND CMAKE_CXX_COMPILER_LAUNCHER ${CMAKE_CURRENT_LIST_DIR}/compile.sh)
