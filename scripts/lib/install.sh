# Puts the programs of a build where a user's shell finds them. Other scripts source this file. It is not run by itself.

readonly INSTALLED_PROGRAMS="rekindle rekindle-coordinator rekindle-worker rekindle-checkpoint rekindle-trainer \
rekindle-own-trainer"

# install_for_user PREFIX BUILD puts links to the programs, completion for three shells and manual pages below PREFIX.
# It does not remove files that only an earlier release had.
install_for_user() {
  local prefix=$1 build=$2 program shell
  local man=$prefix/share/man/man1
  local -A completions=(
    [bash]=$prefix/share/bash-completion/completions/rekindle
    [zsh]=$prefix/share/zsh/site-functions/_rekindle
    [fish]=$prefix/share/fish/vendor_completions.d/rekindle.fish
  )
  mkdir -p "$prefix/bin" "$man" ||
    die "$prefix cannot be written" "choose another folder: scripts/bootstrap --install --prefix DIR"
  for program in $INSTALLED_PROGRAMS; do
    # The programs are linked, not copied. They look for each other and for their libraries beside their real files.
    [ ! -e "$build/bin/$program" ] || ln -sfn "$build/bin/$program" "$prefix/bin/$program"
  done
  for shell in "${!completions[@]}"; do
    mkdir -p "$(dirname "${completions[$shell]}")"
    "$build/bin/rekindle" completion "$shell" >"${completions[$shell]}"
  done
  "$build/bin/rekindle" help --man-pages "$man"
  say "installed: links in $prefix/bin, completion for bash, zsh and fish in $prefix/share, manual pages in $man"
  case :$PATH: in
    *:"$prefix/bin":*) ;;
    *) say "  $prefix/bin is not in your PATH: export PATH=$prefix/bin:\$PATH" ;;
  esac
}
