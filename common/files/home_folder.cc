#include "common/files/home_folder.h"

#include <pwd.h>
#include <unistd.h>

#include <cstdlib>

namespace rekindle::common {

std::string HomeFolder() {
  if (const char* home = std::getenv("HOME"); home != nullptr && *home == '/') return home;
  passwd entry = {};
  passwd* found = nullptr;
  char text[4096];
  if (getpwuid_r(geteuid(), &entry, text, sizeof text, &found) != 0 || found == nullptr) return "";
  return entry.pw_dir;
}

}  // namespace rekindle::common
