# Checks what the machine must offer and installs the apt packages. Other scripts source this file. It is not run by
# itself.

# The set-up needs `NEEDED_DISK_MB` because it keeps about 5 GB of wheels. While pip unpacks them, it writes as much
# again to the disk.
readonly NEEDED_DISK_MB=8000
readonly NEEDED_MEMORY_MB=3000

# free_disk_mb FOLDER prints the free space of the disk that holds FOLDER, in MB.
free_disk_mb() { df -Pm "$1" | awk 'NR == 2 { print $4 }'; }

# memory_mb prints the memory of the machine in MB, or what its container may use if that is less.
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

# build_jobs prints how many compilers may run at once. With LibTorch's headers each one takes up to 1.5 GB of memory.
build_jobs() {
  local cores by_memory
  cores=$(nproc)
  by_memory=$(($(memory_mb) / 1500))
  if [ "$by_memory" -lt "$cores" ]; then echo "$by_memory"; else echo "$cores"; fi
}

# missing_packages FILE prints those packages of FILE that dpkg does not know as installed. It reads no package index.
missing_packages() {
  local wanted installed
  wanted=$(grep -v '^#' "$1" | sort -u)
  # shellcheck disable=SC2086 # Each package is one word.
  installed=$(dpkg-query -W -f '${db:Status-Status} ${Package}\n' $wanted 2>/dev/null |
    sed -n 's/^installed //p' | sort -u)
  comm -23 <(printf '%s\n' "$wanted") <(printf '%s\n' "$installed") | tr '\n' ' '
}

# as_root COMMAND... runs the command as root, with sudo if this user is not root.
as_root() { if [ "$(id -u)" = 0 ]; then "$@"; else sudo "$@"; fi; }

can_be_root() {
  [ "$(id -u)" = 0 ] && return
  command -v sudo >/dev/null || return
  # sudo asks for the password once, before the long steps, where the user sees it. Without a terminal nobody could
  # answer, so it must not ask.
  if [ -t 0 ]; then sudo -v; else sudo -n true 2>/dev/null; fi
}

# A failed `apt-get update` is not an error by itself. If it matters, the install that follows fails.
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
  # shellcheck disable=SC2086 # Each package is one word.
  step "apt packages ($(wc -w <<<"$missing") missing)" 15 \
    "check that the network (or http_proxy) reaches the distribution's package mirror, then run it again" \
    apt_install $missing
}
