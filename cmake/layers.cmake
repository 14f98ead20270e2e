# SPDX-License-Identifier: BSD-3-Clause
# karst_layer(NAME ROOMS folder... [LITTLE_OPTIMISED room or file...] LINK lib...): one library from all .cpp files of the
# current folder and of its rooms, linking its direct neighbours.
add_library(karst_flags INTERFACE)
target_compile_options(karst_flags INTERFACE
  -Wall -Wextra -Wshadow -Wconversion -Wpedantic -Wnon-virtual-dtor -Woverloaded-virtual
  $<$<CXX_COMPILER_ID:GNU>:-Werror> $<$<CXX_COMPILER_ID:Clang>:-Wno-sign-conversion>
  -ffp-contract=off
  # Memory that g++ may fill before it first looks for what is no longer in use: a tenth of its time for the half of it.
  $<$<CXX_COMPILER_ID:GNU>:--param=ggc-min-heapsize=600000>
  # Numbers side by side (eight.hpp, flow_kernels.hpp) are returned in other registers where there is no AVX; all files are
  # compiled one way or the other.
  $<$<CXX_COMPILER_ID:GNU>:-Wno-psabi>)
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
  <limits> <map> <memory> <mutex> <numbers> <numeric> <optional> <ranges> <set> <span> <sstream> <string> <string_view>
  <complex> <condition_variable> <thread> <unordered_map> <unordered_set> <utility> <variant> <vector> <fmt/format.h>
  <mpi.h> <omp.h>)
if(CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|AMD64")
  list(APPEND KARST_HEADERS <immintrin.h> <x86intrin.h>)
endif()
file(CONFIGURE OUTPUT ${PROJECT_BINARY_DIR}/headers.cpp CONTENT "// CMake wants a source where headers are compiled\n")
# Code that reads options, sets up and writes reports, where compilation takes longer than the run. Optimisation belongs to
# the compiled headers: a file with an -O of its own is compiled with much of theirs.
add_library(karst_little_optimised INTERFACE)
target_link_libraries(karst_little_optimised INTERFACE karst_flags)
target_compile_options(karst_little_optimised INTERFACE $<$<CONFIG:Release>:-Og>
  $<$<CXX_COMPILER_ID:GNU>:-Wno-maybe-uninitialized>)  # with -Og g++ is often wrong about variables that are not set
function(karst_compiled_headers name flags)
  add_library(${name} OBJECT ${PROJECT_BINARY_DIR}/headers.cpp)
  target_link_libraries(${name} PRIVATE MPI::MPI_CXX OpenMP::OpenMP_CXX fmt::fmt ${flags})
  target_include_directories(${name} PRIVATE ${PROJECT_SOURCE_DIR}/src ${PROJECT_SOURCE_DIR})
  set(own "")
  foreach(header ${ARGN})
    list(APPEND own "\"${header}\"")
  endforeach()
  target_precompile_headers(${name} PRIVATE ${KARST_HEADERS} ${own})
endfunction()
karst_compiled_headers(karst_headers karst_flags)
karst_compiled_headers(karst_little_optimised_headers karst_little_optimised)
# With headers of Karst itself, which nearly every group of the program reads: four seconds each.
karst_compiled_headers(karst_program_headers karst_little_optimised
  app/deck/config.hpp app/job/job.hpp app/job/exchange.hpp ins/upscale/permeability.hpp transport/volumes/scalar_grid.hpp
  page/run_page.hpp)

# karst_in_groups(TARGET FILE...): its files are compiled in groups of a folder, of about 2500 lines each as one, which takes
# half as long: headers cost three to six seconds each time. Within a folder of several groups the group of a file hangs on
# its name alone, so a new file changes no other group. A name that stands in unnamed namespaces of two files of a folder is
# an error: make one of both, or give it another. What a file has to itself (compile options) keeps it alone;
# tools/check.sh compiles each file alone.
function(karst_in_groups target)
  set_target_properties(${target} PROPERTIES UNITY_BUILD ${KARST_GROUPS} UNITY_BUILD_MODE GROUP)
  foreach(file ${ARGN})
    get_filename_component(folder ${file} DIRECTORY)
    get_filename_component(folder ${folder} NAME)
    file(SIZE ${file} bytes)
    math(EXPR bytes_${folder} "0${bytes_${folder}} + ${bytes}")
  endforeach()
  foreach(file ${ARGN})
    get_filename_component(folder ${file} DIRECTORY)
    get_filename_component(folder ${folder} NAME)
    get_filename_component(name ${file} NAME)
    string(MD5 hash ${name})
    string(SUBSTRING ${hash} 0 2 hash)
    math(EXPR number "0x${hash} % (1 + ${bytes_${folder}} / 160000)")
    set_source_files_properties(${file} PROPERTIES UNITY_GROUP ${folder}_${number})
  endforeach()
  if(KARST_GROUPS)  # a type of a file's own is one of an included file there, which g++ warns of
    target_compile_options(${target} PRIVATE $<$<CXX_COMPILER_ID:GNU>:-Wno-subobject-linkage>)
  endif()
endfunction()

# karst_program(NAME SOURCES file... LIBRARIES lib... [HEADERS karst_program_headers]): a program of tests, little optimised:
# the libraries that it calls are.
function(karst_program name)
  cmake_parse_arguments(ARG "" "HEADERS" "SOURCES;LIBRARIES" ${ARGN})
  if(NOT ARG_HEADERS)
    set(ARG_HEADERS karst_little_optimised_headers)
  endif()
  add_executable(${name} ${ARG_SOURCES})
  target_link_libraries(${name} PRIVATE ${ARG_LIBRARIES} MPI::MPI_CXX OpenMP::OpenMP_CXX fmt::fmt karst_little_optimised)
  target_precompile_headers(${name} REUSE_FROM ${ARG_HEADERS})
  target_include_directories(${name} PRIVATE ${PROJECT_SOURCE_DIR} ${PROJECT_SOURCE_DIR}/src ${PROJECT_SOURCE_DIR}/tests)
endfunction()

function(karst_layer name)
  cmake_parse_arguments(ARG "" "LITTLE_OPTIMISED_HEADERS" "ROOMS;LITTLE_OPTIMISED;LINK;PRIVATE" ${ARGN})
  if(NOT ARG_LITTLE_OPTIMISED_HEADERS)
    set(ARG_LITTLE_OPTIMISED_HEADERS karst_little_optimised_headers)
  endif()
  set(all "")
  set(little "")
  foreach(room . ${ARG_ROOMS})
    set(folder ${CMAKE_CURRENT_SOURCE_DIR})
    if(NOT room STREQUAL ".")
      string(APPEND folder /${room})
    endif()
    file(GLOB sources CONFIGURE_DEPENDS ${folder}/*.cpp)
    list(FILTER sources EXCLUDE REGEX "/main\\.cpp$")
    if(room IN_LIST ARG_LITTLE_OPTIMISED)
      list(APPEND little ${sources})
    else()
      list(APPEND all ${sources})
    endif()
  endforeach()
  foreach(file ${ARG_LITTLE_OPTIMISED})
    set(file ${CMAKE_CURRENT_SOURCE_DIR}/${file})
    if(file IN_LIST all)
      list(REMOVE_ITEM all ${file})
      list(APPEND little ${file})
    endif()
  endforeach()
  if(NOT all)
    add_library(karst_${name} INTERFACE)
    target_link_libraries(karst_${name} INTERFACE ${ARG_LINK})
    target_include_directories(karst_${name} INTERFACE ${PROJECT_SOURCE_DIR}/src ${PROJECT_SOURCE_DIR})
    return()
  endif()
  add_library(karst_${name} STATIC ${all})
  karst_compile(karst_${name} karst_flags karst_headers ${all})
  target_link_libraries(karst_${name} PUBLIC ${ARG_LINK} PRIVATE ${ARG_PRIVATE})
  if(little)
    add_library(karst_${name}_little OBJECT ${little})
    karst_compile(karst_${name}_little karst_little_optimised ${ARG_LITTLE_OPTIMISED_HEADERS} ${little})
    target_link_libraries(karst_${name}_little PRIVATE ${ARG_LINK} ${ARG_PRIVATE})
    target_sources(karst_${name} PRIVATE $<TARGET_OBJECTS:karst_${name}_little>)
  endif()
endfunction()
function(karst_compile target flags headers)
  target_link_libraries(${target} PRIVATE ${flags})
  target_precompile_headers(${target} REUSE_FROM ${headers})
  target_include_directories(${target} PUBLIC ${PROJECT_SOURCE_DIR}/src ${PROJECT_SOURCE_DIR})
  karst_in_groups(${target} ${ARGN})
endfunction()

# karst_target_of_folders(NAME AT_NIGHT FOLDER...): a target that builds the programs of these folders, those with the
# property KARST_AT_NIGHT or those without.
function(karst_target_of_folders name of_the_night)
  add_custom_target(${name})
  foreach(folder ${ARGN})
    get_property(targets DIRECTORY ${PROJECT_SOURCE_DIR}/${folder} PROPERTY BUILDSYSTEM_TARGETS)
    foreach(target ${targets})
      get_target_property(type ${target} TYPE)
      get_property(at_night TARGET ${target} PROPERTY KARST_AT_NIGHT)
      if(type MATCHES "EXECUTABLE|SHARED_LIBRARY" AND
          ((at_night AND of_the_night) OR NOT (at_night OR of_the_night)))
        add_dependencies(${name} ${target})
      endif()
    endforeach()
  endforeach()
endfunction()
