#include "worker/agent/bundles/bundle_keeper.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <iterator>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "common/bundle/bundle.h"
#include "common/bundle/unpack.h"
#include "common/files/file.h"
#include "common/files/unique_fd.h"
#include "common/log/log.h"
#include "common/text/printable.h"

namespace rekindle::agent {
namespace {

// From so many attempts in a row on, a failure is told. A cut of the connection fails one.
constexpr int kToldFrom = 2;
constexpr size_t kMostWords = 400;

std::string UnfinishedFile(const std::string& folder, const std::string& address) {
  return common::NodeBundleFile(folder, address) + ".part";
}

bool IsThere(const std::string& path) { return access(path.c_str(), F_OK) == 0; }

absl::Status Append(const std::string& path, const std::string& data) {
  const common::UniqueFd file(open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NOFOLLOW, 0600));
  if (!file.valid()) return common::ErrnoStatus(errno, "cannot open", path);
  for (size_t at = 0; at < data.size();) {
    const ssize_t written = write(file.get(), data.data() + at, data.size() - at);
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return common::ErrnoStatus(errno, "cannot write", path);
    at += static_cast<size_t>(written);
  }
  return absl::OkStatus();
}

int64_t SizeOf(const std::string& path) {
  struct stat info = {};
  return stat(path.c_str(), &info) == 0 ? info.st_size : 0;
}

}  // namespace

void BundleKeeper::Run(Get get, std::function<void()> cancel) {
  get_ = std::move(get);
  cancel_ = std::move(cancel);
  thread_ = std::thread([this] { Loop(); });
}

void BundleKeeper::Stop() {
  {
    const common::MutexLock lock(mutex_);
    stopping_ = true;
    changed_.NotifyAll();
  }
  // What `cancel_` uses may be gone once the thread has ended.
  if (!thread_.joinable()) return;
  cancel_();
  thread_.join();
}

void BundleKeeper::Want(std::map<std::string, std::string> wanted) {
  const common::MutexLock lock(mutex_);
  if (wanted == wanted_) return;
  wanted_ = std::move(wanted);
  for (auto failed = failures_.begin(); failed != failures_.end();) {
    failed = wanted_.count(failed->first) > 0 ? std::next(failed) : failures_.erase(failed);
  }
  is_news_ = true;
  changed_.NotifyAll();
}

bool BundleKeeper::IsReady(const std::string& address) const {
  const common::MutexLock lock(mutex_);
  return ready_.count(address) > 0;
}

std::string BundleKeeper::Trouble(const std::string& address) const {
  const common::MutexLock lock(mutex_);
  const auto failed = failures_.find(address);
  return failed == failures_.end() || failed->second.count < kToldFrom ? "" : failed->second.words;
}

void BundleKeeper::Loop() {
  for (int failures = 0; Wait(failures);) {
    std::map<std::string, std::string> missing;
    std::set<std::string> wanted;
    {
      const common::MutexLock lock(mutex_);
      for (const auto& [address, job_uid] : wanted_) {
        wanted.insert(address);
        if (ready_.count(address) == 0) missing.emplace(address, job_uid);
      }
    }
    RemoveUnwanted(wanted);
    bool has_failed = false;
    for (const auto& [address, job_uid] : missing) {
      const absl::Status provided = Provide(address, job_uid);
      const common::MutexLock lock(mutex_);
      if (stopping_) return;
      has_failed |= !provided.ok();
      Note(address, job_uid, provided);
    }
    failures = has_failed ? failures + 1 : 0;
  }
}

void BundleKeeper::Note(const std::string& address, const std::string& job_uid, const absl::Status& provided) {
  if (provided.ok()) {
    ready_.insert(address);
    failures_.erase(address);
    waker_->Wake();
    log::Info("the code of a job is ready", {{"job_uid", job_uid}, {"bundle", address}});
    return;
  }
  if (wanted_.count(address) == 0) return;
  Failures& failures = failures_[address];
  const std::string words =
      common::Printable(provided.message().empty() ? provided.ToString() : std::string(provided.message()), kMostWords);
  if (std::exchange(failures.logged, words) != words) {
    log::Warning("the code of a job is not there yet", {{"job_uid", job_uid}, {"why", words}});
  }
  // A coordinator that is away, or has too much to do, is no trouble with this bundle.
  if (absl::IsUnavailable(provided)) return;
  ++failures.count;
  const bool is_news = std::exchange(failures.words, words) != words;
  if (failures.count == kToldFrom || (failures.count > kToldFrom && is_news)) waker_->Wake();
}

bool BundleKeeper::Wait(int failures) {
  common::MutexLock lock(mutex_);
  const auto is_over = [this]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) { return stopping_ || is_news_; };
  if (failures == 0) {
    changed_.Wait(lock, is_over);
  } else {
    const double random = std::uniform_real_distribution<double>(0, 1)(random_);
    const double seconds = common::BackoffSeconds(options_.retry, failures, random);
    (void)changed_.WaitFor(lock, std::chrono::duration<double>(seconds), is_over);
  }
  is_news_ = false;
  return !stopping_;
}

absl::Status BundleKeeper::Provide(const std::string& address, const std::string& job_uid) {
  if (!common::IsBundleAddress(address)) return absl::InvalidArgumentError("the job names a bundle that cannot be");
  if (mkdir(common::NodeBundles(options_.folder).c_str(), 0700) != 0 && errno != EEXIST) {
    return common::ErrnoStatus(errno, "cannot make", common::NodeBundles(options_.folder));
  }
  const std::string packed = common::NodeBundleFile(options_.folder, address);
  const std::string folder = common::NodeBundleFolder(options_.folder, address);
  if (IsThere(packed) && IsThere(folder)) {
    const absl::Status same = common::CheckUnpacked(packed, address, folder);
    if (same.ok()) return absl::OkStatus();
    log::Warning("the code of a job is unpacked anew", {{"why", std::string(same.message())}});
  }
  // The packed form is read again from its beginning if it was damaged on the way or on this disk.
  for (int attempt = 0;; ++attempt) {
    if (!IsThere(packed)) {
      if (absl::Status fetched = Fetch(address, job_uid); !fetched.ok()) return fetched;
    }
    const absl::Status unpacked = common::UnpackBundle(packed, address, folder);
    if (!absl::IsDataLoss(unpacked)) return unpacked;
    common::PosixFileSystem()->Remove(packed).IgnoreError();
    if (attempt > 0) return unpacked;
  }
}

absl::Status BundleKeeper::Fetch(const std::string& address, const std::string& job_uid) {
  const std::string unfinished = UnfinishedFile(options_.folder, address);
  const std::string packed = common::NodeBundleFile(options_.folder, address);
  for (int64_t have = SizeOf(unfinished);;) {
    v1::GetBundleRequest request;
    request.set_job_uid(job_uid);
    request.set_address(address);
    request.set_offset(have);
    const absl::StatusOr<v1::GetBundleReply> reply = get_(std::move(request));
    const bool fits = reply.ok() && reply->bytes() > 0 && reply->bytes() <= common::kMaxPackedBundleBytes &&
                      static_cast<int64_t>(reply->data().size()) <= reply->bytes() - have &&
                      (have == reply->bytes() || !reply->data().empty());
    if (absl::IsOutOfRange(reply.status()) || (reply.ok() && !fits)) {
      // What was fetched before is of another packed form, or the answer makes no sense.
      common::PosixFileSystem()->Remove(unfinished).IgnoreError();
      return absl::DataLossError("the coordinator sends another bundle than it sent before: it is fetched anew");
    }
    if (!reply.ok()) return reply.status();
    if (absl::Status kept = Append(unfinished, reply->data()); !kept.ok()) return kept;
    have += static_cast<int64_t>(reply->data().size());
    if (have < reply->bytes()) continue;
    return common::PosixFileSystem()->Rename(unfinished, packed);
  }
}

void BundleKeeper::RemoveUnwanted(const std::set<std::string>& wanted) {
  const std::string folder = common::NodeBundles(options_.folder);
  common::FileSystem& fs = *common::PosixFileSystem();
  const absl::StatusOr<std::vector<std::string>> names = fs.List(folder);
  if (!names.ok()) return;
  std::vector<std::pair<double, std::string>> unwanted;
  std::set<std::string> addresses;
  for (const std::string& name : *names) {
    const std::string address = name.substr(0, name.find('.'));
    if (!common::IsBundleAddress(address) || wanted.count(address) > 0 || !addresses.insert(address).second) continue;
    const auto info = fs.Stat(absl::StrCat(folder, "/", name));
    unwanted.emplace_back(info.ok() ? info->modified : 0, address);
  }
  std::sort(unwanted.begin(), unwanted.end());
  const auto space = options_.space(folder);
  const bool is_full = space.ok() && space->total > 0 &&
                       static_cast<double>(space->free) < common::kNearlyFullShare * static_cast<double>(space->total);
  const size_t spare = is_full ? 0 : options_.spare;
  for (size_t i = 0; i + spare < unwanted.size(); ++i) {
    const std::string& address = unwanted[i].second;
    {
      const common::MutexLock lock(mutex_);
      // A job may have come back meanwhile.
      if (wanted_.count(address) > 0) continue;
      ready_.erase(address);
    }
    common::RemoveUnpacked(common::NodeBundleFolder(options_.folder, address)).IgnoreError();
    common::RemoveUnpacked(common::NodeBundleFolder(options_.folder, address) + ".new").IgnoreError();
    fs.Remove(common::NodeBundleFile(options_.folder, address)).IgnoreError();
    fs.Remove(UnfinishedFile(options_.folder, address)).IgnoreError();
  }
}

}  // namespace rekindle::agent
