# Which tests a run of scripts/test has. Sourced, never run.

# names_of_tests CTEST-OPTION...: those that ctest would run, one a line.
names_of_tests() {
  ctest --test-dir "$REKINDLE_BUILD" -N "$@" 2>/dev/null | sed -n 's/^ *Test *#[0-9]*: //p'
}

# left_out_sanitizer SEED: a build of each with cold caches takes a quarter of an hour. Nothing without a seed.
left_out_sanitizer() { [ -z "$1" ] || if [ $(($1 % 2)) = 0 ]; then echo thread; else echo address; fi; }

# left_out SEED: those of the rotated tests that are not this seed's, one a line. What shows a promise is never one.
left_out() { names_of_tests -L '^rotated$' -LE '^promise$' | awk -v seed="$1" '(NR + seed) % 2'; }
