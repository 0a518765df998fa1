# Prints the messages and the timed steps of the scripts. Other scripts source this file. It is not run by itself.

say() { printf '%s\n' "$*"; }

# die MESSAGE [FIX] prints one line that says what is wrong and one that says what to do. Then it exits with code 1.
die() {
  printf 'error: %s\n' "$1" >&2
  [ $# -lt 2 ] || printf '  fix: %s\n' "$2" >&2
  exit 1
}

# wrong_use MESSAGE FIX prints the same as `die` and exits with code 2, which is for a command line that makes no sense.
wrong_use() { (die "$@") || exit 2; }

# need_value OPTION COUNT ends the script if OPTION, which takes a value, has none. COUNT is the number of arguments
# that are left, OPTION included.
need_value() { [ "$2" -ge 2 ] || wrong_use "$1 needs a value" "see --help"; }

# duration SECONDS prints a text such as "42 s" or "3 min 5 s".
duration() {
  if [ "$1" -lt 60 ]; then printf '%d s' "$1"; else printf '%d min %d s' $(($1 / 60)) $(($1 % 60)); fi
}

# show_progress LOG START shows the newest line of the log and the time since START on the terminal. It goes on until
# this script ends or the caller kills it.
show_progress() {
  while kill -0 $$ 2>/dev/null; do
    sleep 1
    printf '\r\033[K    %s  %.90s' "$(duration $((SECONDS - $2)))" "$(tail -n 1 "$1" | tr -d '\r')"
  done
}

# step LABEL LINES FIX COMMAND... runs a command with its output in a log. It shows LABEL, and then how long the
# command took. If the command fails, it shows the last LINES lines of the log and FIX, and exits. The shell's `-e` has
# no effect inside COMMAND. So a function that is passed here must join its commands with &&.
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
