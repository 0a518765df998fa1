// Parses what the documents of several sources of interruption notices have in common. The code is pure.
#ifndef REKINDLE_WORKER_AGENT_NOTICES_PARSE_H_
#define REKINDLE_WORKER_AGENT_NOTICES_PARSE_H_

#include <string_view>

#include "absl/status/statusor.h"
#include "common/text/strict_json.h"

namespace rekindle::agent {

// At most `kMaxNotices` notices of one source count. More are ignored.
inline constexpr size_t kMaxNotices = 16;

// Returns the Unix seconds of "2026-11-22T03:29:07Z", "Sun, 22 Nov 2026 03:29:07 GMT" or "22 Nov 2026 03:29:07 GMT".
// The time must lie between the years 2000 and 2200.
absl::StatusOr<double> ParseTimestamp(std::string_view text);

using common::ParseDocument;
using common::StringIn;
using common::StringOr;

}  // namespace rekindle::agent

#endif  // REKINDLE_WORKER_AGENT_NOTICES_PARSE_H_
