// What the documents of several sources have in common. Pure.
#ifndef REKINDLE_WORKER_AGENT_NOTICES_PARSE_H_
#define REKINDLE_WORKER_AGENT_NOTICES_PARSE_H_

#include <string_view>

#include "absl/status/statusor.h"
#include "common/strict_json.h"

namespace rekindle::agent {

inline constexpr size_t kMaxNotices = 16;  // Of one source; more are passed over.

// Unix seconds of "2026-11-22T03:29:07Z", "Sun, 22 Nov 2026 03:29:07 GMT" or "22 Nov 2026 03:29:07 GMT", between the
// years 2000 and 2200.
absl::StatusOr<double> ParseTimestamp(std::string_view text);

using common::ParseDocument;
using common::StringIn;
using common::StringOr;

}  // namespace rekindle::agent

#endif  // REKINDLE_WORKER_AGENT_NOTICES_PARSE_H_
