# SPDX-License-Identifier: BSD-3-Clause
# karst_layer(NAME LINK lib...): one library from all .cpp files of the current folder, linking its direct neighbours.
add_library(karst_flags INTERFACE)
target_compile_options(karst_flags INTERFACE
  -Wall -Wextra -Wshadow -Wconversion -Wpedantic -Wnon-virtual-dtor -Woverloaded-virtual
  $<$<CXX_COMPILER_ID:GNU>:-Werror> $<$<CXX_COMPILER_ID:Clang>:-Wno-sign-conversion>
  -ffp-contract=off $<$<CONFIG:Release>:-O3>)
if(KARST_NATIVE)
  target_compile_options(karst_flags INTERFACE $<$<CONFIG:Release>:-march=native>)
endif()

function(karst_layer name)
  cmake_parse_arguments(ARG "" "" "LINK;PRIVATE" ${ARGN})
  file(GLOB sources CONFIGURE_DEPENDS *.cpp)
  list(FILTER sources EXCLUDE REGEX "/main\\.cpp$")
  if(sources)
    add_library(karst_${name} STATIC ${sources})
    target_link_libraries(karst_${name} PUBLIC ${ARG_LINK} PRIVATE karst_flags ${ARG_PRIVATE})
    target_include_directories(karst_${name} PUBLIC ${PROJECT_SOURCE_DIR}/src ${PROJECT_SOURCE_DIR})
  else()
    add_library(karst_${name} INTERFACE)
    target_link_libraries(karst_${name} INTERFACE ${ARG_LINK})
    target_include_directories(karst_${name} INTERFACE ${PROJECT_SOURCE_DIR}/src ${PROJECT_SOURCE_DIR})
  endif()
endfunction()
