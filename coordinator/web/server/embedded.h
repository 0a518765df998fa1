// Gives access to the files that embed.cmake has put into the program.
#ifndef REKINDLE_COORDINATOR_WEB_SERVER_EMBEDDED_H_
#define REKINDLE_COORDINATOR_WEB_SERVER_EMBEDDED_H_

#include <span>
#include <string_view>

namespace rekindle::coordinator::web {

struct Embedded {
  std::string_view name;
  std::string_view content;
};

std::span<const Embedded> EmbeddedFiles();

}  // namespace rekindle::coordinator::web

#endif  // REKINDLE_COORDINATOR_WEB_SERVER_EMBEDDED_H_
