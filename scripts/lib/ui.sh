# Messages and timed steps of the scripts. Sourced, never run.

say() { printf '%s\n' "$*"; }

# die MESSAGE [FIX]: one line what is wrong, one line what to do.
die() {
  printf 'error: %s\n' "$1" >&2
  [ $# -lt 2 ] || printf '  fix: %s\n' "$2" >&2
  exit 1
}

# wrong_use MESSAGE FIX: as die, with the exit code of a command line that makes no sense.
wrong_use() { (die "$@") || exit 2; }

# need_value OPTION COUNT: for an option that takes a value, with the number of arguments left.
need_value() { [ "$2" -ge 2 ] || wrong_use "$1 needs a value" "see --help"; }

# duration SECONDS: "42 s" or "3 min 5 s".
duration() {
  if [ "$1" -lt 60 ]; then printf '%d s' "$1"; else printf '%d min %d s' $(($1 / 60)) $(($1 % 60)); fi
}

# show_progress LOG START: on a terminal, the newest line of the log, until this script ends or the caller kills it.
show_progress() {
  while kill -0 $$ 2>/dev/null; do
    sleep 1
    printf '\r\033[K    %s  %.90s' "$(duration $((SECONDS - $2)))" "$(tail -n 1 "$1" | tr -d '\r')"
  done
}

# step LABEL LINES FIX COMMAND...: runs a command with its output in a log; shows what runs, then how long it took.
# On failure shows the last LINES lines of the log and the fix, and exits. The shell's `-e` does not reach into COMMAND:
# a function given here joins its commands by &&.
step() {
  local label=$1 lines=$2 fix=$3 start=$SECONDS log ticker= status=0
  shift 3
  mkdir -p "$REKINDLE_CACHE/logs"
  log="$REKINDLE_CACHE/logs/$(printf '%s' "$label" | tr -c 'A-Za-z0-9\n' '-' | cut -c1-60).log"
  say "==> $label"
  : >"$log"
  if [ -t 1 ]; then show_progress "$log" "$start" & ticker=$!; fi
  "$@" >"$log" 2>&1 </dev/null || status=$?
  if [ -n "$ticker" ]; then
    kill "$ticker" && wait "$ticker" 2>/dev/null || true
    printf '\r\033[K'
  fi
  if [ "$status" = 0 ]; then
    say "    done in $(duration $((SECONDS - start)))"
    return
  fi
  { say "---- the last lines of $log"; tail -n "$lines" "$log"; say "----"; } >&2
  die "step failed after $(duration $((SECONDS - start))): $label" "$fix"
}
