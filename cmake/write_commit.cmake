# cmake -DSOURCE=FOLDER -DOUTPUT=FILE [-DCOMMIT=TEXT] -P write_commit.cmake
# Writes the source file behind common/release.h: of which commit FOLDER is, or COMMIT for sources without a repository.
# A file that says so already is not touched, so that a build compiles and links nothing where there is no new commit.
set(commit "${COMMIT}")
set(date "")
find_program(git git)
# A folder of sources that lies within the checkout of something else is of no commit of that.
if(commit STREQUAL "" AND git AND EXISTS "${SOURCE}/.git")
  # Reads alone: it takes no lock that a command of the user might wait for.
  set(ask "${git}" --no-optional-locks -c safe.directory=* -C "${SOURCE}")
  execute_process(COMMAND ${ask} describe --always --abbrev=12 --exclude=* --dirty
    OUTPUT_VARIABLE commit OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
  execute_process(COMMAND ${ask} show --no-patch --format=%cs HEAD
    OUTPUT_VARIABLE date OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
endif()
if(NOT commit MATCHES "^[0-9a-f]+(-dirty)?$")
  set(commit "unknown")
endif()
if(NOT date MATCHES "^[0-9-]+$")
  set(date "")
endif()
set(text "#include \"common/release.h\"

namespace rekindle::common {

const char kCommit[] = \"${commit}\";
const char kCommitDate[] = \"${date}\";

}  // namespace rekindle::common
")
set(before "")
if(EXISTS "${OUTPUT}")
  file(READ "${OUTPUT}" before)
endif()
if(NOT before STREQUAL text)
  file(WRITE "${OUTPUT}" "${text}")
endif()
