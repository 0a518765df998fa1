# Precompiles the headers that most files include: a file of the pure core then takes a third of the time. Only g++ uses
# them, so that the builds by clang show which file lacks an include of its own.
set(REKINDLE_PRECOMPILED OFF)
if(CMAKE_CXX_COMPILER_ID STREQUAL GNU)
  set(REKINDLE_PRECOMPILED ON)
  # Only with -fpch-preprocess does ccache know which precompiled header an object file comes from.
  add_compile_options(-fpch-preprocess)
  # g++ takes a precompiled header only where the same macros are defined, and Abseil's targets define NOMINMAX.
  target_compile_definitions(rk_flags INTERFACE NOMINMAX)
  # With a precompiled header g++ 12 does not know any more which lines are those of system headers. Its wrong guesses
  # about inlined code of the standard library would become errors.
  target_compile_options(rk_flags INTERFACE -Wno-array-bounds -Wno-maybe-uninitialized -Wno-restrict
    -Wno-stringop-overflow -Wno-stringop-overread)
endif()

# REKINDLE_PRECOMPILED_PLAIN lists headers that most files include. They are listed as `<...>`, so that the header that
# CMake writes of them names no path of this checkout and ccache knows it in every other one.
set(REKINDLE_PRECOMPILED_PLAIN
  <algorithm> <array> <atomic> <chrono> <cmath> <cstdint> <cstring> <functional> <limits> <map> <memory> <mutex>
  <optional> <set> <string> <string_view> <thread> <tuple> <unordered_map> <utility> <variant> <vector>
  <absl/status/status.h> <absl/status/statusor.h> <absl/strings/match.h> <absl/strings/str_cat.h>
  <absl/strings/str_format.h> <absl/strings/str_join.h>)
set(REKINDLE_PRECOMPILED_MESSAGES
  <rekindle/v1/job.pb.h> <rekindle/v1/job_file.pb.h> <rekindle/v1/node.pb.h> <rekindle/v1/store.pb.h>
  <rekindle/v1/trainer.pb.h>)
set(REKINDLE_PRECOMPILED_TEST <gmock/gmock.h> <gtest/gtest.h>)

# The folders of REKINDLE_WITHOUT_MESSAGES do not use the messages of the protocol.
set(REKINDLE_WITHOUT_MESSAGES
  "^common/(check|text|sync|digest|agreed|time|log|files|process|memory|net|objects|bundle)(/|$)")

# rk_precompile(name position_independent header...) makes a set of precompiled headers.
function(rk_precompile name position_independent)
  # CMake attaches a precompiled header to a target, which must have at least one source.
  set(source "${CMAKE_BINARY_DIR}/${name}.cc")
  file(CONFIGURE OUTPUT "${source}" CONTENT "")
  add_library(${name} OBJECT "${source}")
  set_target_properties(${name} PROPERTIES POSITION_INDEPENDENT_CODE OFF)
  target_compile_options(${name} PRIVATE ${position_independent})
  target_link_libraries(${name} PRIVATE rk_flags)
  target_precompile_headers(${name} PRIVATE ${ARGN})
endfunction()

# rk_precompile_sets(suffix position_independent header...) makes two sets of precompiled headers whose names end with
# the suffix: for files with messages of the protocol and for files without.
function(rk_precompile_sets suffix position_independent)
  set(headers ${ARGN} ${REKINDLE_PRECOMPILED_PLAIN})
  rk_precompile(rk_precompiled_plain${suffix} ${position_independent} ${headers})
  rk_precompile(rk_precompiled_messages${suffix} ${position_independent} ${headers} ${REKINDLE_PRECOMPILED_MESSAGES})
  target_link_libraries(rk_precompiled_messages${suffix} PRIVATE rk_proto)
endfunction()
if(REKINDLE_PRECOMPILED)
  rk_precompile_sets("" -fPIC)
  rk_precompile_sets(_test -fPIE ${REKINDLE_PRECOMPILED_TEST})
  target_link_libraries(rk_precompiled_plain_test PRIVATE GTest::gmock)
  target_link_libraries(rk_precompiled_messages_test PRIVATE GTest::gmock)
endif()

# rk_use_precompiled(target suffix) lets a target of the current folder use the precompiled headers with that suffix.
function(rk_use_precompiled target suffix)
  file(RELATIVE_PATH folder "${CMAKE_SOURCE_DIR}" "${CMAKE_CURRENT_SOURCE_DIR}")
  # The kernels do not use precompiled headers, because they are compiled with options of their own.
  if(NOT REKINDLE_PRECOMPILED OR folder MATCHES "^kernels(/|$)")
    return()
  endif()
  if(folder MATCHES "${REKINDLE_WITHOUT_MESSAGES}")
    target_precompile_headers(${target} REUSE_FROM rk_precompiled_plain${suffix})
  else()
    target_precompile_headers(${target} REUSE_FROM rk_precompiled_messages${suffix})
  endif()
endfunction()
