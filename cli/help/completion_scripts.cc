// Holds the shells' part of completion. Each shell passes its words to `rekindle __complete` and shows what that
// prints.
#include "cli/help/completion.h"

namespace rekindle::cli {
namespace {

// Bash breaks words also at `=` and `:`, and replaces only the text after the last break.
constexpr char kBash[] = R"(# Completion of rekindle for bash, made by `rekindle completion bash`.
_rekindle() {
  local i word rest=$COMP_LINE line whole=()
  for ((i = 0; i <= COMP_CWORD; i++)); do
    word=${COMP_WORDS[i]}
    if [[ $i -gt 0 && $rest != [[:space:]]* ]]; then whole[-1]+=$word; else whole+=("$word"); fi
    rest=${rest#"${rest%%[![:space:]]*}"}
    rest=${rest#"$word"}
  done
  local before=${whole[-1]%"$2"}
  COMPREPLY=()
  while IFS=$'\t' read -r line _; do
    case $line in
      :files) compopt -o default 2>/dev/null ;;
      :folders) compopt -o dirnames 2>/dev/null ;;
      *) COMPREPLY+=("${line#"$before"}") ;;
    esac
  done < <("${whole[0]}" __complete "${whole[@]:1}" 2>/dev/null)
}
complete -F _rekindle rekindle
)";

constexpr char kZsh[] = R"(#compdef rekindle
# Completion of rekindle for zsh, made by `rekindle completion zsh`.
_rekindle() {
  local line files folders
  local -a found
  for line in "${(@f)$("${(@Q)words[1]}" __complete "${(@Q)words[2,CURRENT]}" 2>/dev/null)}"; do
    case $line in
      '') ;;
      :files) files=yes ;;
      :folders) folders=yes ;;
      *$'\t'*) found+=("${${line%%$'\t'*}//:/\\:}:${line#*$'\t'}") ;;
      *) found+=("${line//:/\\:}") ;;
    esac
  done
  (( $#found )) && _describe rekindle found
  [[ -n $files ]] && _files
  [[ -n $folders ]] && _files -/
}
if [[ $funcstack[1] == _rekindle ]]; then _rekindle "$@"; else compdef _rekindle rekindle; fi
)";

constexpr char kFish[] = R"(# Completion of rekindle for fish, made by `rekindle completion fish`.
function __rekindle_complete
    set -l words (commandline -opc)
    set -l command $words[1]
    set -e words[1]
    set -l current (commandline -ct)
    for line in ($command __complete $words "$current" 2>/dev/null)
        switch $line
            case ':files'
                __fish_complete_path "$current"
            case ':folders'
                __fish_complete_directories "$current"
            case '*'
                echo $line
        end
    end
end
complete -c rekindle -f -a '(__rekindle_complete)'
)";

}  // namespace

std::string CompletionScript(const std::string& shell) {
  if (shell == "bash") return kBash;
  return shell == "zsh" ? kZsh : kFish;
}

}  // namespace rekindle::cli
