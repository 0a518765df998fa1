# REKINDLE_WHEELS is the site-packages folder of the pinned wheels. scripts/bootstrap sets it in the environment. If it
# is not set there, CMake looks where bootstrap keeps the folder, so that a plain `cmake --preset release` works too.
function(rk_find_wheels out)
  if(NOT "$ENV{REKINDLE_WHEELS}" STREQUAL "")
    set(${out} "$ENV{REKINDLE_WHEELS}" PARENT_SCOPE)
    return()
  endif()
  set(cache "$ENV{XDG_CACHE_HOME}")
  if(cache STREQUAL "")
    set(cache "$ENV{HOME}/.cache")
  endif()
  file(SHA256 "${CMAKE_SOURCE_DIR}/requirements.txt" lock_hash)
  string(SUBSTRING "${lock_hash}" 0 12 lock_hash)
  set(venv "${cache}/rekindle/venv-${lock_hash}")
  if(EXISTS "${venv}/.complete")
    file(GLOB found "${venv}/lib/python3*/site-packages")
    set(${out} "${found}" PARENT_SCOPE)
  endif()
endfunction()

# If the cached folder of the wheels no longer exists, it is looked up again. This happens after a new lock file or with
# another cache folder.
if(NOT EXISTS "${REKINDLE_WHEELS}")
  rk_find_wheels(found_wheels)
  set(REKINDLE_WHEELS "${found_wheels}" CACHE PATH "site-packages folder of the pinned wheels" FORCE)
endif()
