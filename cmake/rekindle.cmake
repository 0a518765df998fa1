# Compiler flags and the three target helpers every folder uses.
set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_RUNTIME_OUTPUT_DIRECTORY "${CMAKE_BINARY_DIR}/bin")
if(NOT CMAKE_BUILD_TYPE)
  set(CMAKE_BUILD_TYPE RelWithDebInfo)
endif()

find_program(CCACHE ccache)
if(CCACHE AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  set(CMAKE_CXX_COMPILER_LAUNCHER "${CCACHE}")
endif()
find_program(MOLD mold)
if(MOLD)
  add_link_options(-fuse-ld=mold)
endif()

add_library(rk_flags INTERFACE)
target_compile_options(rk_flags INTERFACE -Wall -Wextra -Werror -Wno-missing-field-initializers
  # Bit-identical results need the same rounding everywhere: never fuse a multiply and an add unasked.
  -ffp-contract=off)
target_include_directories(rk_flags INTERFACE "${CMAKE_SOURCE_DIR}")
if(REKINDLE_SANITIZE)
  add_compile_options(-fsanitize=${REKINDLE_SANITIZE} -fno-omit-frame-pointer)
  add_link_options(-fsanitize=${REKINDLE_SANITIZE})
  # Instrumented code draws false warnings from g++; the release build is the one that refuses warnings.
  target_compile_options(rk_flags INTERFACE -Wno-error)
  if(REKINDLE_SANITIZE MATCHES undefined)
    add_compile_options(-fno-sanitize-recover=undefined)
    # g++ checks these at each access to a member, which doubles the time of the build. The address sanitizer stops at
    # what the first two would find; the fuzz targets, which clang builds, keep all three.
    if(CMAKE_CXX_COMPILER_ID STREQUAL GNU)
      add_compile_options(-fno-sanitize=null,object-size,alignment)
    endif()
  endif()
endif()

# The distribution's gRPC is not instrumented: what happens between its own threads is out of sight, and no race.
set(REKINDLE_SANITIZER_ENVIRONMENT
  "TSAN_OPTIONS=ignore_noninstrumented_modules=1" "UBSAN_OPTIONS=print_stacktrace=1")

# rk_library(name SRCS a.cc b.cc DEPS x y)
function(rk_library name)
  cmake_parse_arguments(A "" "" "SRCS;DEPS" ${ARGN})
  if(A_SRCS)
    add_library(${name} STATIC ${A_SRCS})
    target_link_libraries(${name} PUBLIC rk_flags ${A_DEPS})
  else()
    add_library(${name} INTERFACE)
    target_link_libraries(${name} INTERFACE rk_flags ${A_DEPS})
  endif()
endfunction()

# What scripts/demo and scripts/bench need: the programs that users run, and what they load.
add_custom_target(programs)

# rk_binary(name SRCS ... DEPS ...): one named rekindle or rekindle-* belongs to the programs.
function(rk_binary name)
  cmake_parse_arguments(A "" "" "SRCS;DEPS" ${ARGN})
  add_executable(${name} ${A_SRCS})
  target_link_libraries(${name} PRIVATE rk_flags ${A_DEPS})
  if(name MATCHES "^rekindle(-|$)")
    add_dependencies(programs ${name})
  endif()
endfunction()

# What scripts/test does with a label: one that it does not know would leave a test out without a word.
set(REKINDLE_TEST_LABELS slow rotated promise smoke search sanitize threads)
function(rk_check_labels name)
  foreach(label ${ARGN})
    if(NOT label IN_LIST REKINDLE_TEST_LABELS)
      message(FATAL_ERROR "${name}: there is no label ${label}; there are: ${REKINDLE_TEST_LABELS}")
    endif()
  endforeach()
  if(NOT "slow" IN_LIST ARGN AND ("rotated" IN_LIST ARGN OR "smoke" IN_LIST ARGN OR "search" IN_LIST ARGN))
    message(FATAL_ERROR "${name}: rotated, smoke and search are kinds of slow tests: LABELS slow ${ARGN}")
  endif()
endfunction()

# rk_test(name SRCS ... DEPS ... [LABELS slow sanitize] [TIMEOUT seconds]): a GoogleTest program, one ctest case.
#   slow      runs after the fast ones, alone, and not at all with scripts/test --fast
#   rotated   slow, and each run of .ci/run has half of them
#   promise   shows what docs/guarantees.md promises: where it is slow it runs first, and in every .ci/run, rotated or
#             not; together at most 8 minutes
#   smoke     slow: a small run of the benches
#   search    slow: looks with new seeds for what breaks a promise
#   sanitize  built and run under the address and undefined-behaviour sanitizers too (torch-free code)
#   threads   built and run under the thread sanitizer too (torch-free code that starts threads)
function(rk_test name)
  cmake_parse_arguments(A "" "TIMEOUT" "SRCS;DEPS;LABELS" ${ARGN})
  rk_check_labels(${name} ${A_LABELS})
  add_executable(${name} ${A_SRCS})
  target_link_libraries(${name} PRIVATE rk_flags ${A_DEPS} GTest::gmock GTest::gtest_main)
  add_test(NAME ${name} COMMAND ${name} WORKING_DIRECTORY "${CMAKE_SOURCE_DIR}")
  if(NOT A_TIMEOUT)
    set(A_TIMEOUT 120)
  endif()
  if(REKINDLE_SANITIZE)
    math(EXPR A_TIMEOUT "${A_TIMEOUT} * 5")
  endif()
  set_tests_properties(${name} PROPERTIES TIMEOUT ${A_TIMEOUT} LABELS "${A_LABELS}"
    ENVIRONMENT "${REKINDLE_SANITIZER_ENVIRONMENT}")
endfunction()

# rk_python_test(name SCRIPT x.py [ARGS ...] [LABELS slow promise] [TIMEOUT seconds]): a Python program, one ctest case;
# exit code 77 means skipped. It finds the programs through REKINDLE_BUILD.
find_program(REKINDLE_PYTHON python3 PATHS /usr/bin NO_DEFAULT_PATH REQUIRED)
function(rk_python_test name)
  cmake_parse_arguments(A "" "SCRIPT;TIMEOUT" "ARGS;LABELS" ${ARGN})
  rk_check_labels(${name} ${A_LABELS})
  get_filename_component(script "${A_SCRIPT}" ABSOLUTE)
  add_test(NAME ${name} COMMAND "${REKINDLE_PYTHON}" "${script}" ${A_ARGS} WORKING_DIRECTORY "${CMAKE_SOURCE_DIR}")
  if(NOT A_TIMEOUT)
    set(A_TIMEOUT 120)
  endif()
  set_tests_properties(${name} PROPERTIES TIMEOUT ${A_TIMEOUT} LABELS "${A_LABELS}" SKIP_RETURN_CODE 77
    ENVIRONMENT "REKINDLE_BUILD=${CMAKE_BINARY_DIR};PYTHONDONTWRITEBYTECODE=1")
endfunction()
