# Sets up the machine and builds, for all scripts: apt packages, wheels, configure, compile. Other scripts source this
# file. It is not run by itself. Everything that it sets up is in $REKINDLE_CACHE, outside of the checkout, and is
# keyed by the lock file.
set -euo pipefail

REKINDLE_ROOT=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd -P)
HOME=${HOME:-$(getent passwd "$(id -u)" | cut -d: -f6)}
REKINDLE_CACHE=${XDG_CACHE_HOME:-$HOME/.cache}/rekindle
export REKINDLE_ROOT REKINDLE_CACHE HOME

# shellcheck source=ui.sh
. "$REKINDLE_ROOT/scripts/lib/ui.sh"
# shellcheck source=machine.sh
. "$REKINDLE_ROOT/scripts/lib/machine.sh"

# SYSTEM_PYTHON is the Python of the distribution. Another Python on the PATH may lack venv or be too new for the
# wheels.
readonly SYSTEM_PYTHON=/usr/bin/python3

install_wheels() {
  # The downloaded wheels are 3 GB. They go to the disk of the cache folder, whose space was checked, and are not kept
  # twice.
  rm -rf "$REKINDLE_VENV" && mkdir -p "$REKINDLE_CACHE/tmp" && "$SYSTEM_PYTHON" -m venv "$REKINDLE_VENV" &&
    TMPDIR="$REKINDLE_CACHE/tmp" "$REKINDLE_VENV/bin/pip" install --require-hashes --only-binary :all: \
      --no-cache-dir --disable-pip-version-check --progress-bar off --retries 3 -r "$REKINDLE_ROOT/requirements.txt" &&
    touch "$REKINDLE_VENV/.complete"
}

# setup_machine installs the packages and the wheels. It sets REKINDLE_VENV and REKINDLE_WHEELS.
setup_machine() {
  local lock_hash
  mkdir -p "$REKINDLE_CACHE" 2>/dev/null && [ -w "$REKINDLE_CACHE" ] ||
    die "the cache folder $REKINDLE_CACHE is not writable" "set XDG_CACHE_HOME to a folder of yours"
  check_memory
  exec 9>"$REKINDLE_CACHE/setup.lock"
  flock -n 9 || { say "==> waiting for another set-up on this machine"; flock 9; }

  lock_hash=$(sha256sum "$REKINDLE_ROOT/requirements.txt" | cut -c1-12)
  REKINDLE_VENV=$REKINDLE_CACHE/venv-$lock_hash
  [ -e "$REKINDLE_VENV/.complete" ] || check_disk
  install_packages
  # The wheels are installed again if an interrupted install has left no marker, or if an upgrade of the distribution
  # has removed the interpreter.
  if [ ! -e "$REKINDLE_VENV/.complete" ] || [ ! -x "$REKINDLE_VENV/bin/python3" ]; then
    step "wheels: LibTorch, Arrow, CUDA compiler (3 GB, once)" 15 \
      "check that the network (or https_proxy and PIP_CERT) reaches the Python package index, then run it again" \
      install_wheels
  fi
  flock -u 9
  exec 9>&-

  REKINDLE_WHEELS=$(echo "$REKINDLE_VENV"/lib/python3*/site-packages)
  export REKINDLE_VENV REKINDLE_WHEELS
  # Checkouts and presets share object files through ccache. So the paths in object files have to be relative.
  export CCACHE_DIR=$REKINDLE_CACHE/ccache CCACHE_BASEDIR=$REKINDLE_ROOT CCACHE_NOHASHDIR=1 CCACHE_MAXSIZE=5G
  export CCACHE_SLOPPINESS=pch_defines,time_macros,include_file_mtime,include_file_ctime
}

# in_root COMMAND... runs the command in the root of the checkout, as CMake finds presets only in the current folder.
in_root() { (cd "$REKINDLE_ROOT" && "$@"); }

# configure PRESET configures the build of the preset and sets REKINDLE_BUILD to its folder.
configure() {
  local preset=$1
  REKINDLE_BUILD=$REKINDLE_ROOT/build/$preset
  export REKINDLE_BUILD
  step "configure ($preset)" 30 "read the message above; a stale folder is cured by: rm -rf $REKINDLE_BUILD" \
    in_root cmake --preset "$preset" "-DREKINDLE_WHEELS=$REKINDLE_WHEELS"
}

# compile [TARGET...] builds the targets, or all, in REKINDLE_BUILD. If two scripts build at once, one waits for the
# other.
compile() {
  local jobs
  jobs=$(build_jobs)
  step "build ($(basename "$REKINDLE_BUILD")${1:+: }$*, $jobs jobs)" 60 "read the compiler's message above" \
    flock "$REKINDLE_BUILD/.build.lock" ninja -C "$REKINDLE_BUILD" -j "$jobs" "$@"
}
