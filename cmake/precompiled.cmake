# Compiles once what most files include: a file of the pure core then takes a third of the time. Only g++ does so, so
# that the builds by clang show which file lacks an include of its own.
set(REKINDLE_PRECOMPILED OFF)
if(CMAKE_CXX_COMPILER_ID STREQUAL GNU)
  set(REKINDLE_PRECOMPILED ON)
  # ccache knows which precompiled header an object file comes from only with this option.
  add_compile_options(-fpch-preprocess)
  # Abseil's targets define this, and g++ takes a precompiled header only where the same macros are defined.
  target_compile_definitions(rk_flags INTERFACE NOMINMAX)
  # With a precompiled header g++ 12 does not know any more which lines are those of system headers, and its guesses
  # about inlined code of the standard library become errors.
  target_compile_options(rk_flags INTERFACE -Wno-array-bounds -Wno-maybe-uninitialized -Wno-restrict
    -Wno-stringop-overflow -Wno-stringop-overread)
endif()

# These folders know no message of the protocol.
set(REKINDLE_WITHOUT_MESSAGES
  "^common/(check|text|sync|digest|agreed|time|log|files|process|memory|net|objects)(/|$)")

# rk_precompiled(name) makes the two sets of precompiled headers with that suffix: for files with messages and without.
function(rk_precompiled suffix position_independent)
  foreach(kind plain messages)
    set(name rk_precompiled_${kind}${suffix})
    add_library(${name} OBJECT "${CMAKE_SOURCE_DIR}/cmake/precompiled/empty.cc")
    set_target_properties(${name} PROPERTIES POSITION_INDEPENDENT_CODE OFF)
    target_compile_options(${name} PRIVATE ${position_independent})
    target_link_libraries(${name} PRIVATE rk_flags)
    target_precompile_headers(${name} PRIVATE "${CMAKE_SOURCE_DIR}/cmake/precompiled/${kind}${suffix}.h")
  endforeach()
  target_link_libraries(rk_precompiled_messages${suffix} PRIVATE rk_proto)
endfunction()
if(REKINDLE_PRECOMPILED)
  rk_precompiled("" -fPIC)
  rk_precompiled(_test -fPIE)
  target_link_libraries(rk_precompiled_plain_test PRIVATE GTest::gmock)
  target_link_libraries(rk_precompiled_messages_test PRIVATE GTest::gmock)
endif()

# rk_use_precompiled(target suffix) lets a target of the current folder use them.
function(rk_use_precompiled target suffix)
  file(RELATIVE_PATH folder "${CMAKE_SOURCE_DIR}" "${CMAKE_CURRENT_SOURCE_DIR}")
  # The kernels are compiled with options of their own.
  if(NOT REKINDLE_PRECOMPILED OR folder MATCHES "^kernels(/|$)")
    return()
  endif()
  if(folder MATCHES "${REKINDLE_WITHOUT_MESSAGES}")
    target_precompile_headers(${target} REUSE_FROM rk_precompiled_plain${suffix})
  else()
    target_precompile_headers(${target} REUSE_FROM rk_precompiled_messages${suffix})
  endif()
endfunction()
