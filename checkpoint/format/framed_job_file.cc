#include "checkpoint/format/framed_job_file.h"

#include <climits>
#include <cstdint>

#include "absl/strings/str_cat.h"
#include "checkpoint/format/framed_json.h"
#include "checkpoint/format/manifest_release.h"
#include "common/text/printable.h"
#include "common/text/strict_json.h"

namespace rekindle::checkpoint {
namespace {

constexpr char kName[] = "job.json";
constexpr char kFrame[] = "job";
constexpr common::JsonLimits kLimits{.depth = 16, .values = 20'000};
constexpr size_t kMaxShown = 64;

struct Content {
  std::string_view inner;
  int format = 0;
  std::string needs_release;
};

absl::StatusOr<Content> Parse(std::string_view text, const std::string& job_uid) {
  if (text.size() > kMaxJobFileBytes) {
    return absl::DataLossError(
        absl::StrCat("it has ", text.size(), " bytes, more than the ", kMaxJobFileBytes, " that it may have"));
  }
  const auto inner = UnframeJson(kFrame, text);
  if (!inner.ok()) return inner.status();
  const auto document = common::ParseStrictJson(*inner, kLimits);
  if (!document.ok()) return document.status();
  if (!document->is_object()) return absl::DataLossError("it is no JSON object");
  const auto format = document->find("format");
  if (format == document->end() || !format->is_number_unsigned() || format->get<uint64_t>() < 1 ||
      format->get<uint64_t>() > INT_MAX) {
    return absl::DataLossError("its format is no number from 1");
  }
  const std::string named = common::StringOr(*document, "job_uid");
  if (named != job_uid) {
    return absl::DataLossError(absl::StrCat("it is of job '", common::Printable(named, kMaxShown), "'"));
  }
  return Content{*inner, format->get<int>(), common::StringOr(*document, kNeedsRelease)};
}

}  // namespace

std::string FrameJobFile(std::string_view inner) { return FrameJson(kFrame, inner); }

absl::Status CheckJobFile(std::string_view text, const std::string& job_uid) {
  const auto content = Parse(text, job_uid);
  if (content.ok()) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat(kName, " of job ", job_uid, ": ", content.status().message()));
}

absl::StatusOr<std::string> DecodeJobFile(std::string_view text, const std::string& job_uid) {
  const auto content = Parse(text, job_uid);
  if (!content.ok()) {
    return absl::DataLossError(absl::StrCat(
        kName, " of job ", job_uid, ": ", content.status().message(),
        "; the job's next checkpoint makes it anew. Where the job does not train any more, bring a copy of "
        "it back, or export the weights of its newest checkpoint and submit the job from these"));
  }
  if (content->format > kJobFileFormat) {
    return NewerFormatOf(absl::StrCat(kName, " of job ", job_uid), content->format, kJobFileFormat,
                         content->needs_release);
  }
  return std::string(content->inner);
}

}  // namespace rekindle::checkpoint
