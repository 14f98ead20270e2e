# SPDX-License-Identifier: BSD-3-Clause
# karst_layer(NAME ROOMS folder... LINK lib...): one library from all .cpp files of the current folder and of its rooms,
# linking its direct neighbours.
add_library(karst_flags INTERFACE)
target_compile_options(karst_flags INTERFACE
  -Wall -Wextra -Wshadow -Wconversion -Wpedantic -Wnon-virtual-dtor -Woverloaded-virtual
  $<$<CXX_COMPILER_ID:GNU>:-Werror> $<$<CXX_COMPILER_ID:Clang>:-Wno-sign-conversion>
  -ffp-contract=off)
if(KARST_NATIVE)
  target_compile_options(karst_flags INTERFACE $<$<CONFIG:Release>:-march=native>)
endif()

# Headers of the standard library and of fmt, compiled once for all layers and once more, with GoogleTest, for the tests.
# Every file still includes what it uses: the debug preset, which tools/check.sh builds, does without, and so does clang,
# whose compiled headers do not go with ccache.
if(NOT CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  set(CMAKE_DISABLE_PRECOMPILE_HEADERS ON)
endif()
if(NOT CMAKE_DISABLE_PRECOMPILE_HEADERS)
  # g++ 12 forgets where compiled headers of the standard library silence these warnings, wrong about std::string.
  target_compile_options(karst_flags INTERFACE -Wno-array-bounds -Wno-restrict -Wno-stringop-overflow
    -Wno-stringop-overread)
endif()
set(KARST_HEADERS
  <algorithm> <array> <bit> <chrono> <cmath> <cstdint> <cstdio> <cstring> <deque> <filesystem> <fstream> <functional>
  <limits> <map> <memory> <mutex> <numbers> <numeric> <optional> <set> <span> <sstream> <string> <string_view>
  <unordered_map> <utility> <vector> <fmt/format.h> <mpi.h> <omp.h>)
file(CONFIGURE OUTPUT ${PROJECT_BINARY_DIR}/headers.cpp CONTENT "// CMake wants a source where headers are compiled\n")
add_library(karst_headers OBJECT ${PROJECT_BINARY_DIR}/headers.cpp)
target_link_libraries(karst_headers PRIVATE MPI::MPI_CXX OpenMP::OpenMP_CXX fmt::fmt karst_flags)
target_precompile_headers(karst_headers PRIVATE ${KARST_HEADERS})

# karst_little_optimised(FILE...): files of the current folder that read options or write reports, where compilation
# takes longer than the run. (-O0 would not go with the compiled headers.)
function(karst_little_optimised)
  set_source_files_properties(${ARGN} PROPERTIES COMPILE_OPTIONS $<$<CONFIG:Release>:-Og>)
endfunction()

# karst_in_groups(TARGET FILE...): its files are compiled in three groups per folder, each as one, which takes little more
# than half as long. The group of a file hangs on its name alone, so a new file changes no other group. A name that stands
# in unnamed namespaces of two files of a group is an error: make one of both, or give it another. What a file has to
# itself (compile options) keeps it alone; tools/check.sh compiles each file alone.
function(karst_in_groups target)
  set_target_properties(${target} PROPERTIES UNITY_BUILD ${KARST_GROUPS} UNITY_BUILD_MODE GROUP)
  foreach(file ${ARGN})
    get_filename_component(folder ${file} DIRECTORY)
    get_filename_component(folder ${folder} NAME)
    get_filename_component(name ${file} NAME)
    string(MD5 hash ${name})
    string(SUBSTRING ${hash} 0 2 hash)
    math(EXPR number "0x${hash} % 3")
    set_source_files_properties(${file} PROPERTIES UNITY_GROUP ${folder}_${number})
  endforeach()
  if(KARST_GROUPS)  # a type of a file's own is one of an included file there, which g++ warns of
    target_compile_options(${target} PRIVATE $<$<CXX_COMPILER_ID:GNU>:-Wno-subobject-linkage>)
  endif()
endfunction()

function(karst_layer name)
  cmake_parse_arguments(ARG "" "" "ROOMS;LINK;PRIVATE" ${ARGN})
  set(patterns *.cpp)
  foreach(room ${ARG_ROOMS})
    list(APPEND patterns ${room}/*.cpp)
  endforeach()
  file(GLOB sources CONFIGURE_DEPENDS ${patterns})
  list(FILTER sources EXCLUDE REGEX "/main\\.cpp$")
  if(sources)
    add_library(karst_${name} STATIC ${sources})
    target_link_libraries(karst_${name} PUBLIC ${ARG_LINK} PRIVATE karst_flags ${ARG_PRIVATE})
    target_precompile_headers(karst_${name} REUSE_FROM karst_headers)
    karst_in_groups(karst_${name} ${sources})
    target_include_directories(karst_${name} PUBLIC ${PROJECT_SOURCE_DIR}/src ${PROJECT_SOURCE_DIR})
  else()
    add_library(karst_${name} INTERFACE)
    target_link_libraries(karst_${name} INTERFACE ${ARG_LINK})
    target_include_directories(karst_${name} INTERFACE ${PROJECT_SOURCE_DIR}/src ${PROJECT_SOURCE_DIR})
  endif()
endfunction()

# karst_target_of_folders(NAME FOLDER...): a target that builds the programs of these folders.
function(karst_target_of_folders name)
  add_custom_target(${name})
  foreach(folder ${ARGN})
    get_property(targets DIRECTORY ${PROJECT_SOURCE_DIR}/${folder} PROPERTY BUILDSYSTEM_TARGETS)
    foreach(target ${targets})
      get_target_property(type ${target} TYPE)
      if(type MATCHES "EXECUTABLE|SHARED_LIBRARY")
        add_dependencies(${name} ${target})
      endif()
    endforeach()
  endforeach()
endfunction()
