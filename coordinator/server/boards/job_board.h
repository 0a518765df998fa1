// Holds what users may see of jobs, which is only what is durable. The class is thread-compatible: the loop's thread
// owns it.
#ifndef REKINDLE_COORDINATOR_SERVER_BOARDS_JOB_BOARD_H_
#define REKINDLE_COORDINATOR_SERVER_BOARDS_JOB_BOARD_H_

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "rekindle/v1/job.pb.h"

namespace rekindle::coordinator {

inline bool IsOver(const v1::Job& job) {
  const v1::JobState state = job.status().state();
  return state == v1::SUCCEEDED || state == v1::FAILED || state == v1::CANCELLED;
}

class JobBoard {
 public:
  using JobPointer = std::shared_ptr<const v1::Job>;

  // Adds the job, or replaces what the board holds for its uid. The order of the first calls is the order of the jobs.
  void Set(const v1::Job& job) {
    JobPointer& at = jobs_[job.uid()];
    if (at == nullptr) order_.push_back(job.uid());
    // If the coordinator found a job only because its trainers run, it learns the job's name later.
    const bool is_new = at == nullptr || at->name() != job.name();
    // A job that had failed and was resumed has its name again.
    const bool goes_on = at != nullptr && IsOver(*at) && !IsOver(job);
    const bool is_taken = IsOver(job) && IsTaken(job.name());
    if ((is_new && !is_taken) || goes_on) newest_[job.name()] = job.uid();
    at = std::make_shared<const v1::Job>(job);
  }

  // Removes the job. Its name then means the newest of the remaining jobs that have this name.
  void Forget(const std::string& uid) {
    const auto at = jobs_.find(uid);
    if (at == jobs_.end()) return;
    const std::string name = at->second->name();
    std::erase(order_, uid);
    jobs_.erase(at);
    if (newest_[name] != uid) return;
    newest_.erase(name);
    for (const std::string& other : order_) {
      if (jobs_.at(other)->name() == name) newest_[name] = other;
    }
  }

  // Returns the job with the given uid, or else the newest job of that name. Returns null when there is none.
  JobPointer Find(const std::string& name_or_uid) const {
    const auto by_uid = jobs_.find(name_or_uid);
    if (by_uid != jobs_.end()) return by_uid->second;
    const auto by_name = newest_.find(name_or_uid);
    return by_name == newest_.end() ? nullptr : jobs_.at(by_name->second);
  }

  // Returns all jobs, with their uids as keys.
  const std::map<std::string, JobPointer>& all() const { return jobs_; }
  // Returns the uids of all jobs in the order of submission.
  const std::vector<std::string>& order() const { return order_; }

 private:
  // Returns whether a job that is not over has the name.
  bool IsTaken(const std::string& name) const {
    const auto newest = newest_.find(name);
    return newest != newest_.end() && jobs_.at(newest->second) != nullptr && !IsOver(*jobs_.at(newest->second));
  }

  std::map<std::string, JobPointer> jobs_;
  std::map<std::string, std::string> newest_;
  std::vector<std::string> order_;
};

inline absl::Status NoJob(const std::string& name) {
  return absl::NotFoundError(absl::StrCat("no job '", name.substr(0, 100), "'; `rekindle jobs` lists all"));
}

}  // namespace rekindle::coordinator

#endif  // REKINDLE_COORDINATOR_SERVER_BOARDS_JOB_BOARD_H_
