#include "worker/train/sessions/known_job_file.h"

#include "common/digest/hash.h"

namespace rekindle::train {

int64_t KnownJobFile::Ask(v1::RenewLeaseRequest* request) {
  const common::MutexLock lock(mutex_);
  request->set_wants_job_file(true);
  request->set_job_file_digest(digest_);
  return ++asked_;
}

void KnownJobFile::Take(const v1::RenewLeaseReply& reply, int64_t number) {
  const common::MutexLock lock(mutex_);
  if (number < taken_) return;
  taken_ = number;
  file_.required = !reply.job_file_digest().empty();
  if (reply.job_file_digest() == digest_) over_ = reply.job_is_over();
  if (reply.job_file().empty() || reply.job_file().size() > checkpoint::kMaxJobFileBytes) return;
  if (common::Xxh3_128Hex(reply.job_file()) != reply.job_file_digest()) return;
  file_.text = reply.job_file();
  digest_ = reply.job_file_digest();
  over_ = reply.job_is_over();
}

checkpoint::JobFile KnownJobFile::Newest() const {
  const common::MutexLock lock(mutex_);
  return file_;
}

std::string KnownJobFile::OfEnd() const {
  const common::MutexLock lock(mutex_);
  return over_ ? file_.text : "";
}

}  // namespace rekindle::train
