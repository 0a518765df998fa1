// The commit of a build, for `--version`. Only the main files of programs may link this: it changes with each
// commit, and everything that links it is linked anew.
#ifndef REKINDLE_COMMON_RELEASE_H_
#define REKINDLE_COMMON_RELEASE_H_

#include <string>

namespace rekindle::common {

// Twelve hex digits, with "-dirty" where tracked files differed from it; "unknown" outside a checkout.
extern const char kCommit[];
extern const char kCommitDate[];  // "2026-01-31"; empty: not known.

// "rekindle-worker 0.1.0 (commit 0123456789ab, protocol 4)"
std::string VersionLine(const std::string& program);

}  // namespace rekindle::common

#endif  // REKINDLE_COMMON_RELEASE_H_
