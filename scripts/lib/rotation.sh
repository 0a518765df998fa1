# Selects the tests that a run of scripts/test leaves out. Other scripts source this file. It is not run by itself.

# names_of_tests CTEST-OPTION... prints the names of the tests that ctest would run, one per line.
names_of_tests() {
  ctest --test-dir "$REKINDLE_BUILD" -N "$@" 2>/dev/null | sed -n 's/^ *Test *#[0-9]*: //p'
}

# left_out_sanitizer SEED prints the sanitizer that a run with this seed leaves out, or nothing if SEED is empty. With
# cold caches the build for each sanitizer takes a quarter of an hour.
left_out_sanitizer() { [ -z "$1" ] || if [ $(($1 % 2)) = 0 ]; then echo thread; else echo address; fi; }

# left_out SEED prints the rotated tests that this seed leaves out, one per line. A test that shows a promise is never
# among them.
left_out() { names_of_tests -L '^rotated$' -LE '^promise$' | awk -v seed="$1" '(NR + seed) % 2'; }
