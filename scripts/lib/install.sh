# Puts a build's programs where a user's shell finds them. Sourced, never run.

readonly INSTALLED_PROGRAMS="rekindle rekindle-coordinator rekindle-worker rekindle-checkpoint rekindle-trainer"

# install_for_user PREFIX BUILD: links to the programs, completion for three shells and manual pages, below PREFIX. What
# an earlier release had more of is not looked for.
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
    # Links, as the programs look for each other and for their libraries beside where they really lie.
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
