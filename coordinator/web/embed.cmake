# Writes a C++ source that contains the given files and defines EmbeddedFiles (embedded.h).
#
#   cmake -DOUT=x.cc "-DFILES=a|b" -P embed.cmake
string(REPLACE "|" ";" FILES "${FILES}")
set(arrays "")
set(table "")
set(index 0)
foreach(path IN LISTS FILES)
  get_filename_component(name "${path}" NAME)
  file(READ "${path}" hex HEX)
  string(REGEX REPLACE "(..)" "0x\\1," bytes "${hex}")
  string(APPEND arrays "constexpr unsigned char kFile${index}[] = {${bytes}0};\n")
  string(APPEND table "      {\"${name}\", "
    "{reinterpret_cast<const char*>(kFile${index}), sizeof(kFile${index}) - 1}},\n")
  math(EXPR index "${index} + 1")
endforeach()
file(WRITE "${OUT}" "// Made by embed.cmake.
#include \"coordinator/web/server/embedded.h\"

namespace rekindle::coordinator::web {
namespace {

${arrays}
}  // namespace

std::span<const Embedded> EmbeddedFiles() {
  static const Embedded files[] = {
${table}  };
  return files;
}

}  // namespace rekindle::coordinator::web
")
