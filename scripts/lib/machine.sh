# What the machine must offer, and the apt packages. Sourced, never run.

# A full set-up keeps about 5 GB of wheels; as much again passes through while pip unpacks them.
readonly NEEDED_DISK_MB=8000
readonly NEEDED_MEMORY_MB=3000

# free_disk_mb FOLDER
free_disk_mb() { df -Pm "$1" | awk 'NR == 2 { print $4 }'; }

# memory_mb: what the machine has, or what its container may use.
memory_mb() {
  local total limit
  total=$(awk '/^MemTotal:/ { print int($2 / 1024) }' /proc/meminfo)
  limit=$(cat /sys/fs/cgroup/memory.max 2>/dev/null || echo max)
  if [ "$limit" != max ] && [ $((limit / 1048576)) -lt "$total" ]; then total=$((limit / 1048576)); fi
  printf '%s' "$total"
}

check_memory() {
  local have
  have=$(memory_mb)
  [ "$have" -ge "$NEEDED_MEMORY_MB" ] ||
    die "too little memory: $have MB, the build needs $NEEDED_MEMORY_MB MB" "use a larger machine or container limit"
}

check_disk() {
  local have
  have=$(free_disk_mb "$REKINDLE_CACHE")
  [ "$have" -ge "$NEEDED_DISK_MB" ] ||
    die "too little disk: $have MB free in $REKINDLE_CACHE, set-up needs $NEEDED_DISK_MB MB" \
      "free some space, or set XDG_CACHE_HOME to a folder on a larger disk"
}

# build_jobs: compilers at once; LibTorch's headers take up to 1.5 GB each.
build_jobs() {
  local cores by_memory
  cores=$(nproc)
  by_memory=$(($(memory_mb) / 1500))
  if [ "$by_memory" -lt "$cores" ]; then echo "$by_memory"; else echo "$cores"; fi
}

# missing_packages FILE: those of its packages that dpkg does not know as installed. Reads no package index.
missing_packages() {
  local wanted installed
  wanted=$(grep -v '^#' "$1" | sort -u)
  # shellcheck disable=SC2086 # one word a package
  installed=$(dpkg-query -W -f '${db:Status-Status} ${Package}\n' $wanted 2>/dev/null |
    sed -n 's/^installed //p' | sort -u)
  comm -23 <(printf '%s\n' "$wanted") <(printf '%s\n' "$installed") | tr '\n' ' '
}

# as_root COMMAND...
as_root() { if [ "$(id -u)" = 0 ]; then "$@"; else sudo "$@"; fi; }

can_be_root() {
  [ "$(id -u)" = 0 ] && return
  command -v sudo >/dev/null || return
  # Asks for the password here, once, where the user sees it; without a terminal nobody could answer.
  if [ -t 0 ]; then sudo -v; else sudo -n true 2>/dev/null; fi
}

# Whether a failed update mattered is what the install that follows tells.
apt_install() {
  as_root apt-get update -q || true
  as_root env DEBIAN_FRONTEND=noninteractive apt-get install -y -q --no-install-recommends \
    -o DPkg::Lock::Timeout=300 "$@"
}

install_packages() {
  local missing
  command -v apt-get >/dev/null && command -v dpkg-query >/dev/null ||
    die "this machine has no apt-get" "use Debian 12 or Ubuntu 24.04, or a container of one of them"
  missing=$(missing_packages "$REKINDLE_ROOT/scripts/apt-packages.txt")
  [ -n "${missing// /}" ] || return 0
  can_be_root ||
    die "packages are missing, and this user is neither root nor has sudo" \
      "ask root to run: apt-get install -y --no-install-recommends $missing"
  # shellcheck disable=SC2086 # one word a package
  step "apt packages ($(wc -w <<<"$missing") missing)" 15 \
    "check that the network (or http_proxy) reaches the distribution's package mirror, then run it again" \
    apt_install $missing
}
