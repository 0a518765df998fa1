// Names the commit of a build, for `--version`. Only the main files of programs may link this library, because it
// changes with each commit, and everything that links it is then linked again.
#ifndef REKINDLE_COMMON_AGREED_RELEASE_H_
#define REKINDLE_COMMON_AGREED_RELEASE_H_

#include <string>

namespace rekindle::common {

// `kCommit` is twelve hex digits, with "-dirty" if tracked files differed from the commit. Outside of a checkout it is
// "unknown".
extern const char kCommit[];
// `kCommitDate` is the date of the commit, such as "2026-01-31". It is empty if the date is not known.
extern const char kCommitDate[];

// Returns a line like "rekindle-worker 0.1.0 (commit 0123456789ab, protocol 4)".
std::string VersionLine(const std::string& program);

}  // namespace rekindle::common

#endif  // REKINDLE_COMMON_AGREED_RELEASE_H_
