#include "cli/job_file/job_documents.h"

#include <deque>
#include <filesystem>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "cli/job_file/job_source.h"
#include "common/text/utf8.h"
#include "worker/data/declared/data_kind.h"

namespace rekindle::cli {
namespace {

void ResolvePaths(const std::filesystem::path& folder, JobDocument* document) {
  v1::JobSpec* const spec = document->job.mutable_spec();
  const bool is_text = !common::FindInvalidUtf8(folder.string());
  bool has_failed = false;
  const auto resolve = [&](std::string& path) {
    if (path.empty() || !std::filesystem::path(path).is_relative()) return;
    if (is_text) path = (folder / path).lexically_normal();
    has_failed |= !is_text;
  };
  data::ForEachFile(spec->mutable_data(), resolve);
  if (!spec->model().weights().empty()) resolve(*spec->mutable_model()->mutable_weights());
  if (!spec->model().folder().empty()) resolve(*spec->mutable_model()->mutable_folder());
  // A bundle is an address, or a folder that is packed later.
  const std::string& bundle = spec->model().bundle();
  if (!bundle.empty() && !common::IsBundleAddress(bundle)) resolve(*spec->mutable_model()->mutable_bundle());
  if (!has_failed) return;
  document->unread.push_back({document->line, "",
                              absl::StrCat("relative paths are in the folder ", folder.string(),
                                           ", whose name is not UTF-8: rename it, or give absolute paths")});
}

// Returns whether `path` is the path of the field `field`, or the path of an item if the field is a list.
bool IsOf(const std::string& path, const std::string& field) {
  return path == field || absl::StartsWith(path, field + "[");
}

// Applies an override from the command line to the document. What the job file says of the same field does not count
// any more, so problems with it are dropped.
void Give(const Override& override, JobDocument* document) {
  if (const absl::Status set = Apply(override, &document->job); !set.ok()) {
    document->unread.push_back({0, override.field, absl::StrCat(override.flag, ": ", set.message())});
    return;
  }
  std::erase_if(document->lines, [&](const auto& entry) { return IsOf(entry.first, override.field); });
  std::erase_if(document->unread, [&](const auto& problem) { return IsOf(problem.field, override.field); });
  document->flags[override.field] = override.flag;
}

}  // namespace

absl::StatusOr<JobDocuments> ReadJobDocuments(const std::string& path, const std::vector<Override>& overrides) {
  const absl::StatusOr<JobSource> source = ReadJobSource(path);
  if (!source.ok()) return source.status();
  std::deque<v1::Job> jobs;
  auto documents = common::ParseYamlDocuments(source->text, source->name, [&jobs] { return &jobs.emplace_back(); });
  if (!documents.ok()) return documents.status();
  JobDocuments file{.source = source->name, .documents = {}};
  for (size_t i = 0; i < documents->size(); ++i) {
    common::YamlDocument& read = (*documents)[i];
    JobDocument document{.job = std::move(jobs[i]),
                         .line = read.line,
                         .lines = std::move(read.lines),
                         .flags = {},
                         .unread = std::move(read.problems),
                         .unread_left_out = read.problems_left_out};
    ResolvePaths(source->folder, &document);
    for (const Override& override : overrides) Give(override, &document);
    ResolvePaths(std::filesystem::current_path(), &document);
    file.documents.push_back(std::move(document));
  }
  return file;
}

}  // namespace rekindle::cli
