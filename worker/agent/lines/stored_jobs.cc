#include "worker/agent/lines/stored_jobs.h"

#include <chrono>
#include <utility>

#include "absl/strings/str_cat.h"
#include "checkpoint/format/framed_job_file.h"
#include "common/log/log.h"
#include "common/text/printable.h"

namespace rekindle::agent {
namespace {

constexpr auto kPeriod = std::chrono::seconds(60);
constexpr auto kDeadline = std::chrono::seconds(30);
constexpr size_t kMaxProblem = 1000;

bool IsSame(const v1::StoredJob& a, const v1::StoredJob& b) { return a.SerializeAsString() == b.SerializeAsString(); }

}  // namespace

StoredJobs::StoredJobs(std::shared_ptr<grpc::Channel> checkpoint_service, const common::Waker* waker)
    : stub_(v1::Checkpoints::NewStub(checkpoint_service)), waker_(waker), thread_([this] { Loop(); }) {}

StoredJobs::~StoredJobs() {
  {
    const common::MutexLock lock(mutex_);
    stopping_ = true;
    if (call_ != nullptr) call_->TryCancel();
  }
  changed_.NotifyAll();
  thread_.join();
}

void StoredJobs::Want(std::map<std::string, std::string> stores) {
  const common::MutexLock lock(mutex_);
  if (stores == wanted_) return;
  wanted_ = std::move(stores);
  ++changes_;
  std::erase_if(
      known_, [&](const auto& known) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) { return wanted_.count(known.first) == 0; });
  changed_.NotifyAll();
}

void StoredJobs::Report(v1::NodeReport* report) const {
  const common::MutexLock lock(mutex_);
  for (const auto& [uid, stored] : known_) {
    if (report->stored_jobs_size() < checkpoint::kMostStoredJobs) *report->add_stored_jobs() = stored;
  }
}

v1::StoredJob StoredJobs::Read(const std::string& uid, const std::string& store) {
  grpc::ClientContext context;
  {
    const common::MutexLock lock(mutex_);
    if (stopping_) return {};
    call_ = &context;
  }
  // If the checkpoint service cannot be reached, the call that reads a job file waits for the service rather than
  // fails, because the service may just be restarting.
  context.set_wait_for_ready(true);
  context.set_deadline(std::chrono::system_clock::now() + kDeadline);
  v1::ReadJobFileRequest request;
  request.set_job_uid(uid);
  request.set_store(store);
  v1::ReadJobFileReply reply;
  const grpc::Status status = stub_->ReadJobFile(&context, request, &reply);
  {
    const common::MutexLock lock(mutex_);
    call_ = nullptr;
  }
  v1::StoredJob stored;
  stored.set_job_uid(uid);
  if (status.ok() && reply.job_file().size() <= checkpoint::kMaxJobFileBytes) {
    stored.set_job_file(reply.job_file());
    stored.set_generation(reply.generation());
  } else if (status.error_code() == grpc::StatusCode::NOT_FOUND) {
    stored.set_problem("there is no job.json");
  } else {
    stored.set_problem(absl::StrCat("it could not be read: ", common::Printable(status.error_message(), kMaxProblem)));
  }
  return stored;
}

void StoredJobs::Loop() {
  common::MutexLock lock(mutex_);
  while (!stopping_) {
    const std::map<std::string, std::string> wanted = wanted_;
    const int64_t changes = changes_;
    for (const auto& [uid, store] : wanted) {
      lock.Unlock();
      v1::StoredJob stored = Read(uid, store);
      lock.Lock();
      // If the set of wanted jobs has changed, the thread stops reading the stores of the old set, because the new jobs
      // must not wait behind stores that hang.
      if (stopping_ || changes_ != changes) break;
      const auto known = known_.find(uid);
      if (known != known_.end() && IsSame(known->second, stored)) continue;
      log::Info("told the coordinator, which does not know a job, what the job's store has",
                {{"job_uid", uid}, {"problem", stored.problem()}});
      known_[uid] = std::move(stored);
      waker_->Wake();
    }
    const auto is_due = [&]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) { return stopping_ || changes_ != changes; };
    if (wanted.empty()) {
      changed_.Wait(lock, is_due);
    } else {
      changed_.WaitFor(lock, kPeriod, is_due);
    }
  }
}

}  // namespace rekindle::agent
