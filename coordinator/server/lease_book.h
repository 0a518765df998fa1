// When any member of a job's newest generation was last told that it stands, and when none is told so any more. And
// until when each job may spend.
//
// Members ask from the transport's threads, beside the loop, so that they are answered at once, also while the state
// store cannot be written. Thread-safe.
#ifndef REKINDLE_COORDINATOR_SERVER_LEASE_BOOK_H_
#define REKINDLE_COORDINATOR_SERVER_LEASE_BOOK_H_

#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <unordered_map>

#include "common/clock.h"

namespace rekindle::coordinator {

class LeaseBook {
 public:
  // `clock`: seconds that go on while the machine sleeps.
  explicit LeaseBook(std::function<double()> clock = common::BootSeconds) : clock_(std::move(clock)) {}

  // That generation stands, durably. What was answered before by another process counts as if it were now.
  void Set(const std::string& job_uid, int generation, const std::string& digest, const std::string& job_secret);
  // None of that job stands: it has ended, or is over.
  void Forget(const std::string& job_uid);

  // May a member be told that it stands? Then that counts as an answer now.
  bool Answer(const std::string& job_uid, int generation, const std::string& digest, const std::string& job_secret);
  // A member was told so with its directive.
  void Answered(const std::string& job_uid, int generation);

  // The job may spend for so many seconds from now, durably. Nothing: without end.
  void SetSpending(const std::string& job_uid, std::optional<double> seconds);
  // For how long that is still so; 0: it may not.
  std::optional<double> SpendSeconds(const std::string& job_uid);

  // Seconds until the last answer is so long ago. 0: it is, or the generation does not stand; from now on no member of
  // it is answered.
  double End(const std::string& job_uid, int generation, double seconds);

 private:
  struct Standing {
    int generation = 0;
    std::string digest;
    std::string secret;
    double answered = 0;
  };

  const std::function<double()> clock_;
  std::mutex mutex_;
  std::unordered_map<std::string, Standing> standing_;
  std::unordered_map<std::string, double> spend_until_;  // Of those that have a limit.
};

}  // namespace rekindle::coordinator

#endif  // REKINDLE_COORDINATOR_SERVER_LEASE_BOOK_H_
