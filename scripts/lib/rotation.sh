# Selects what a run of scripts/test with a seed leaves out. Other scripts source this file. It is not run by itself.
#
# There are six groups, and a run has one of them: SEED modulo 6 says which. Four are quarters of the rotated tests, one
# is the address sanitizer, and one the thread sanitizer. With cold caches each takes about twenty minutes.

# names_of_tests CTEST-OPTION... prints the names of the tests that ctest would run, one per line.
names_of_tests() {
  ctest --test-dir "$REKINDLE_BUILD" -N "$@" 2>/dev/null | sed -n 's/^ *Test *#[0-9]*: //p'
}

# left_out_sanitizers SEED prints the sanitizers that a run with this seed leaves out, one per line, or nothing if SEED
# is empty.
left_out_sanitizers() {
  [ -n "$1" ] || return 0
  [ $(($1 % 6)) = 4 ] || echo address
  [ $(($1 % 6)) = 5 ] || echo thread
}

# left_out SEED prints the rotated tests that this seed leaves out, one per line. A test that shows a promise is never
# among them.
left_out() { names_of_tests -L '^rotated$' -LE '^promise$' | awk -v group=$(($1 % 6)) '(NR - 1) % 4 != group'; }
