#include "cli/text/job_text.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "cli/text/safe_text.h"
#include "worker/data/declared/data_kind.h"

namespace rekindle::cli {

std::string StateName(v1::JobState state) { return v1::JobState_Name(state); }

bool Ended(v1::JobState state) { return state == v1::SUCCEEDED || state == v1::FAILED || state == v1::CANCELLED; }

std::string UnitOf(const v1::JobSpec& spec) {
  if (!spec.model().python().empty()) return "sample";
  return train::IsWindow(data::KindOf(spec.data()).form) ? "token" : "sample";
}

std::string TracebackText(const v1::JobStatus& status) {
  if (status.traceback().empty()) return "";
  std::string text = "  the lines of the job's own code:\n";
  for (const absl::string_view line : absl::StrSplit(absl::StripSuffix(status.traceback(), "\n"), '\n')) {
    absl::StrAppend(&text, "    ", Printable(std::string(line)), "\n");
  }
  return text;
}

}  // namespace rekindle::cli
