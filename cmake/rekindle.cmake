# Sets the compiler flags and defines the functions with which every folder adds its targets and tests.
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
  # Bit-identical results need the same rounding everywhere. So the compiler must not fuse a multiply and an add.
  -ffp-contract=off)
target_include_directories(rk_flags INTERFACE "${CMAKE_SOURCE_DIR}")
# The linker leaves out the functions that nothing calls, and tests/tidy/unused.py finds those that no program has.
add_compile_options(-ffunction-sections)
add_link_options(-Wl,--gc-sections)
if(REKINDLE_SANITIZE)
  add_compile_options(-fsanitize=${REKINDLE_SANITIZE} -fno-omit-frame-pointer)
  add_link_options(-fsanitize=${REKINDLE_SANITIZE})
  # g++ gives false warnings about instrumented code. The release build is the one that refuses warnings.
  target_compile_options(rk_flags INTERFACE -Wno-error)
  if(REKINDLE_SANITIZE MATCHES undefined)
    add_compile_options(-fno-sanitize-recover=undefined)
    # With g++ the checks null, object-size and alignment would double the time of the build, because they are at each
    # access to a member. The address sanitizer finds what the first two would find. The fuzz targets, which clang
    # builds, keep all three.
    if(CMAKE_CXX_COMPILER_ID STREQUAL GNU)
      add_compile_options(-fno-sanitize=null,object-size,alignment)
    endif()
  endif()
endif()

# The distribution's gRPC is not instrumented. The thread sanitizer cannot see how gRPC's own threads synchronise, so it
# must not report races between them.
set(REKINDLE_SANITIZER_ENVIRONMENT
  "TSAN_OPTIONS=ignore_noninstrumented_modules=1" "UBSAN_OPTIONS=print_stacktrace=1")

# rk_library(name SRCS a.cc b.cc DEPS x y) adds a static library, or an interface library if there are no SRCS.
function(rk_library name)
  cmake_parse_arguments(A "" "" "SRCS;DEPS" ${ARGN})
  if(A_SRCS)
    add_library(${name} STATIC ${A_SRCS})
    target_link_libraries(${name} PUBLIC rk_flags ${A_DEPS})
    rk_use_precompiled(${name} "")
  else()
    add_library(${name} INTERFACE)
    target_link_libraries(${name} INTERFACE rk_flags ${A_DEPS})
  endif()
endfunction()

# scripts/demo and scripts/bench build the target `programs`: the programs that users run and the plugins that these
# load.
add_custom_target(programs)

# rk_binary(name SRCS ... DEPS ...) adds a program. A program named rekindle or rekindle-* is part of `programs`.
function(rk_binary name)
  cmake_parse_arguments(A "" "" "SRCS;DEPS" ${ARGN})
  add_executable(${name} ${A_SRCS})
  target_link_libraries(${name} PRIVATE rk_flags ${A_DEPS})
  if(name MATCHES "^rekindle(-|$)")
    add_dependencies(programs ${name})
  endif()
  # In a wheel the libraries are in `lib` beside the folder of the programs. These libraries load others from there, and
  # have no search path of their own. That of a program holds for them too if it is of the old kind.
  if(name MATCHES "^rekindle(-(checkpoint|coordinator|own-trainer|worker))?$")
    set_target_properties(${name} PROPERTIES BUILD_RPATH "$ORIGIN/../lib")
    target_link_options(${name} PRIVATE LINKER:--disable-new-dtags)
  endif()
endfunction()

# scripts/test knows only the labels of REKINDLE_TEST_LABELS. An unknown label would silently leave a test out.
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

# rk_test(name SRCS ... DEPS ... [LABELS slow sanitize] [TIMEOUT seconds]) adds a GoogleTest program as one ctest case.
# The labels mean:
#   slow      The test runs alone, after the fast tests. scripts/test --fast leaves it out.
#   rotated   The test is slow, and one of six runs of .ci/run has it (scripts/lib/rotation.sh).
#   promise   The test shows what docs/guarantees.md promises. If it is slow, it runs before the other slow tests. It is
#             in every .ci/run, even if it is rotated. All promise tests together take at most 8 minutes.
#   smoke     The test is slow and makes a small run of the benches.
#   search    The test is slow and searches with new seeds for a case that breaks a promise.
#   sanitize  The test is also built and run under the address and undefined-behaviour sanitizers. Its code must not
#             use torch.
#   threads   The test is also built and run under the thread sanitizer. Its code starts threads and must not use torch.
function(rk_test name)
  cmake_parse_arguments(A "" "TIMEOUT" "SRCS;DEPS;LABELS" ${ARGN})
  rk_check_labels(${name} ${A_LABELS})
  add_executable(${name} ${A_SRCS})
  target_link_libraries(${name} PRIVATE rk_flags ${A_DEPS} GTest::gmock GTest::gtest_main)
  rk_use_precompiled(${name} _test)
  add_test(NAME ${name} COMMAND ${name} WORKING_DIRECTORY "${CMAKE_SOURCE_DIR}")
  set_property(TEST ${name} PROPERTY REKINDLE_COMMAND ${name})
  if(NOT A_TIMEOUT)
    set(A_TIMEOUT 120)
  endif()
  if(REKINDLE_SANITIZE)
    math(EXPR A_TIMEOUT "${A_TIMEOUT} * 5")
  endif()
  set_tests_properties(${name} PROPERTIES TIMEOUT ${A_TIMEOUT} LABELS "${A_LABELS}"
    ENVIRONMENT "${REKINDLE_SANITIZER_ENVIRONMENT}")
endfunction()

# rk_on_fake_device(name [NCCL] [LABELS ...]) adds the test `name` once more, with the state on a device that finds
# mistakes in how it is used (worker/device/fake). With NCCL the ranks exchange by what acts as NCCL there. With TABLE
# the device is that of a GPU, over a table whose kernels are the processor's. The test has the given labels, and
# otherwise the properties of `name`.
function(rk_on_fake_device name)
  cmake_parse_arguments(A "NCCL;TABLE" "" "LABELS" ${ARGN})
  rk_check_labels(${name} ${A_LABELS})
  get_property(command TEST ${name} PROPERTY REKINDLE_COMMAND)
  set(other ${name}_on_fake_device)
  set(device fake)
  if(A_NCCL)
    set(other ${name}_by_fake_nccl)
    set(device nccl)
  elseif(A_TABLE)
    set(other ${name}_on_gpu_table)
    set(device table)
  endif()
  add_test(NAME ${other} COMMAND ${command} WORKING_DIRECTORY "${CMAKE_SOURCE_DIR}")
  foreach(property TIMEOUT RUN_SERIAL SKIP_RETURN_CODE ENVIRONMENT)
    get_test_property(${name} ${property} value)
    if(NOT value STREQUAL NOTFOUND)
      set_tests_properties(${other} PROPERTIES ${property} "${value}")
    endif()
  endforeach()
  set_tests_properties(${other} PROPERTIES LABELS "${A_LABELS}")
  set_property(TEST ${other} APPEND PROPERTY ENVIRONMENT "REKINDLE_TEST_DEVICE=${device}")
endfunction()

# rk_python_test(name SCRIPT x.py [ARGS ...] [LABELS slow promise] [TIMEOUT seconds]) adds a Python program as one ctest
# case. Exit code 77 means that the test was skipped. The test finds the programs through REKINDLE_BUILD.
find_program(REKINDLE_PYTHON python3 PATHS /usr/bin NO_DEFAULT_PATH REQUIRED)
function(rk_python_test name)
  cmake_parse_arguments(A "" "SCRIPT;TIMEOUT" "ARGS;LABELS" ${ARGN})
  rk_check_labels(${name} ${A_LABELS})
  get_filename_component(script "${A_SCRIPT}" ABSOLUTE)
  set(command "${REKINDLE_PYTHON}" "${script}" ${A_ARGS})
  add_test(NAME ${name} COMMAND ${command} WORKING_DIRECTORY "${CMAKE_SOURCE_DIR}")
  set_property(TEST ${name} PROPERTY REKINDLE_COMMAND "${command}")
  if(NOT A_TIMEOUT)
    set(A_TIMEOUT 120)
  endif()
  set_tests_properties(${name} PROPERTIES TIMEOUT ${A_TIMEOUT} LABELS "${A_LABELS}" SKIP_RETURN_CODE 77
    ENVIRONMENT "REKINDLE_BUILD=${CMAKE_BINARY_DIR};PYTHONDONTWRITEBYTECODE=1")
endfunction()
