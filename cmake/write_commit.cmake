# Writes the source file for common/agreed/release.h. The source file names the commit of the repository FOLDER, or
# COMMIT if that is given, for sources without a repository. If the file already has this text, it is not touched, so
# that a build without a new commit compiles and links nothing.
#
#   cmake -DSOURCE=FOLDER -DOUTPUT=FILE [-DCOMMIT=TEXT] -P write_commit.cmake
set(commit "${COMMIT}")
set(date "")
find_program(git git)
# The folder of the sources must be a repository itself. Sources that lie inside the checkout of another project must
# not get its commit.
if(commit STREQUAL "" AND git AND EXISTS "${SOURCE}/.git")
  # git only reads the repository. It takes no lock for which a command of the user could have to wait.
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
set(text "#include \"common/agreed/release.h\"

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
