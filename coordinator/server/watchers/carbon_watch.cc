#include "coordinator/server/watchers/carbon_watch.h"

#include <sys/stat.h>

#include <chrono>
#include <utility>

#include "absl/strings/str_cat.h"
#include "common/files/file.h"
#include "common/log/log.h"
#include "common/sync/mutex.h"
#include "coordinator/fleet/file/carbon_data.h"
#include "coordinator/fleet/file/carbon_file.h"
#include "coordinator/market/prices.h"

namespace rekindle::coordinator {
namespace {

constexpr size_t kMaxFile = 8 << 20;

}  // namespace

absl::StatusOr<std::unique_ptr<CarbonWatch>> CarbonWatch::Open(Options options) {
  std::unique_ptr<CarbonWatch> self(new CarbonWatch(std::move(options)));
  const v1::Fleet::Carbon& carbon = self->options_.carbon;
  {
    const common::MutexLock lock(self->mutex_);
    self->book_ = self->options_.known;
    self->book_.given = !carbon.url().empty() || !carbon.files().empty();
    self->book_.stale_after = carbon.stale_after_hours() * core::kHour;
  }
  if (carbon.url().empty()) {
    if (absl::Status read = self->ReadFiles(); !read.ok()) return read;
    return self;
  }
  const absl::StatusOr<fleet::FeedUrl> url = fleet::ParseFeedUrl(carbon.url());
  if (!url.ok()) return url.status();
  self->path_ = url->path;
  auto http = common::OpenHttp(
      url->origin,
      {.seconds = self->options_.seconds, .max_body = fleet::kMaxFeedBytes, .reach = common::Reach::kSecure});
  if (!http.ok()) return http.status();
  self->http_ = *std::move(http);
  return self;
}

CarbonWatch::~CarbonWatch() {
  {
    const common::MutexLock lock(mutex_);
    stop_ = true;
  }
  if (http_) http_->Stop();
  stopped_.NotifyAll();
  if (thread_.joinable()) thread_.join();
}

core::CarbonBook CarbonWatch::book() const {
  const common::MutexLock lock(mutex_);
  return book_;
}

std::map<std::string, double> CarbonWatch::IntensitiesAt(double at) const {
  std::map<std::string, double> intensities;
  const common::MutexLock lock(mutex_);
  for (const auto& [region, series] : book_.regions) {
    if (const auto intensity = core::IntensityAt(book_, region, at)) intensities[region] = *intensity;
  }
  return intensities;
}

void CarbonWatch::Start() {
  if (book().given) thread_ = std::thread([this] { Run(); });
}

void CarbonWatch::Run() {
  const auto poll = std::chrono::duration<double>(options_.carbon.poll_seconds());
  const auto is_stopped = [this]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) { return stop_; };
  common::MutexLock lock(mutex_);
  if (!http_ && stopped_.WaitFor(lock, poll, is_stopped)) return;
  for (;;) {
    lock.Unlock();
    Refresh();
    lock.Lock();
    if (stopped_.WaitFor(lock, poll, is_stopped)) return;
  }
}

void CarbonWatch::Refresh() {
  if (!http_ && Written() == written_) return;
  const absl::Status looked = http_ ? AskFeed() : ReadFiles();
  bool again = false;
  {
    const common::MutexLock lock(mutex_);
    if (stop_) return;
    // A failed try to read carbon intensities is reported only if it is the first try of all, because it brings no new
    // values. The coordinator's core itself sees when the old values become stale.
    if (!looked.ok() && book_.asked) again = true;
    book_.asked = true;
  }
  const std::string trouble(looked.message());
  if (!looked.ok() && trouble != trouble_) {
    log::Warning("carbon intensity cannot be read, and stays as it was", {{"error", trouble}});
  } else if (looked.ok() && !trouble_.empty()) {
    log::Info("carbon intensity can be read again");
  }
  trouble_ = trouble;
  if (!again) options_.on_change(book());
}

absl::Status CarbonWatch::ReadFiles() {
  // The files' versions are taken before the files are read. So a file that is written meanwhile counts as changed, and
  // is read again next time.
  written_ = Written();
  core::CarbonBook read = book();
  read.asked = true;
  read.regions.clear();
  for (const std::string& name : options_.carbon.files()) {
    const fleet::CarbonFile file = fleet::ParseCarbonFile(name, options_.beside);
    const auto text = common::ReadFile(*common::PosixFileSystem(), file.path, kMaxFile);
    if (!text.ok()) return absl::InvalidArgumentError(absl::StrCat("carbon.files: ", text.status().message()));
    if (absl::Status added = fleet::AddCarbonTrace(*text, file.path, file.region, &read); !added.ok()) return added;
  }
  const common::MutexLock lock(mutex_);
  book_ = std::move(read);
  return absl::OkStatus();
}

absl::Status CarbonWatch::AskFeed() {
  const absl::StatusOr<common::HttpAnswer> answer = http_->Send({.path = path_});
  if (!answer.ok()) return answer.status();
  if (answer->status != 200) return absl::UnavailableError(absl::StrCat("carbon.url: it answered ", answer->status));
  core::CarbonBook read = book();
  if (absl::Status taken = fleet::TakeCarbonFeed(answer->body, options_.now(), &read); !taken.ok()) {
    return absl::InvalidArgumentError(absl::StrCat("carbon.url: ", taken.message()));
  }
  read.asked = true;
  const common::MutexLock lock(mutex_);
  book_ = std::move(read);
  return absl::OkStatus();
}

// A file's version contains the file's size and inode too, because two writes that follow each other may leave the same
// modification time.
std::vector<CarbonWatch::Version> CarbonWatch::Written() const {
  std::vector<Version> written;
  for (const std::string& name : options_.carbon.files()) {
    struct stat file = {};
    const bool there = stat(fleet::ParseCarbonFile(name, options_.beside).path.c_str(), &file) == 0;
    written.push_back(there ? Version(file.st_mtim.tv_sec, file.st_mtim.tv_nsec, file.st_size, file.st_ino)
                            : Version());
  }
  return written;
}

}  // namespace rekindle::coordinator
