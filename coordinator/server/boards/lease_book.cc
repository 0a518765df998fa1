#include "coordinator/server/boards/lease_book.h"

#include <algorithm>

#include "common/sync/mutex.h"

namespace rekindle::coordinator {

void LeaseBook::Set(const std::string& job_uid, int generation, const std::string& digest,
                    const std::string& job_secret) {
  const common::MutexLock lock(mutex_);
  Standing& standing = standing_[job_uid];
  if (standing.generation == generation && standing.digest == digest) return;
  standing = {generation, digest, job_secret, clock_()};
}

void LeaseBook::Forget(const std::string& job_uid) {
  const common::MutexLock lock(mutex_);
  standing_.erase(job_uid);
}

bool LeaseBook::Answer(const std::string& job_uid, int generation, const std::string& digest,
                       const std::string& job_secret) {
  const common::MutexLock lock(mutex_);
  const auto found = standing_.find(job_uid);
  if (found == standing_.end()) return false;
  Standing& standing = found->second;
  if (standing.generation != generation || standing.digest != digest || standing.secret != job_secret) return false;
  standing.answered = clock_();
  return true;
}

void LeaseBook::Answered(const std::string& job_uid, int generation) {
  const common::MutexLock lock(mutex_);
  const auto found = standing_.find(job_uid);
  if (found != standing_.end() && found->second.generation == generation) found->second.answered = clock_();
}

void LeaseBook::SetSpending(const std::string& job_uid, std::optional<double> seconds) {
  const common::MutexLock lock(mutex_);
  if (seconds) {
    spend_until_[job_uid] = clock_() + *seconds;
  } else {
    spend_until_.erase(job_uid);
  }
}

std::optional<double> LeaseBook::SpendSeconds(const std::string& job_uid) {
  const common::MutexLock lock(mutex_);
  const auto found = spend_until_.find(job_uid);
  if (found == spend_until_.end()) return std::nullopt;
  return std::max(0.0, found->second - clock_());
}

double LeaseBook::End(const std::string& job_uid, int generation, double seconds) {
  const common::MutexLock lock(mutex_);
  const auto found = standing_.find(job_uid);
  if (found == standing_.end() || found->second.generation != generation) return 0;
  const double left = found->second.answered + seconds - clock_();
  if (left > 0) return left;
  standing_.erase(found);
  return 0;
}

}  // namespace rekindle::coordinator
