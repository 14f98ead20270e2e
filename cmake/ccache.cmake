# SPDX-License-Identifier: BSD-3-Clause
# Uses ccache when it is installed and no other launcher was named.
find_program(KARST_CCACHE ccache)
mark_as_advanced(KARST_CCACHE)
if(KARST_CCACHE AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  set(CMAKE_C_COMPILER_LAUNCHER ${KARST_CCACHE})
  set(CMAKE_CXX_COMPILER_LAUNCHER ${KARST_CCACHE})
endif()
