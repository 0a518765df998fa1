// A job's newest generation stands while its members may train in it. A LeaseBook keeps when a member was last told
// that its generation stands, and from when on no member is told so any more. It also keeps until when each job may
// spend money.
//
// The transport's threads ask the book directly, without the loop's thread, so that members get an answer at once even
// while the state store cannot be written. This class is thread-safe.
#ifndef REKINDLE_COORDINATOR_SERVER_BOARDS_LEASE_BOOK_H_
#define REKINDLE_COORDINATOR_SERVER_BOARDS_LEASE_BOOK_H_

#include <optional>
#include <string>
#include <unordered_map>

#include "common/sync/mutex.h"
#include "common/time/clock.h"

namespace rekindle::coordinator {

class LeaseBook {
 public:
  // `clock` returns seconds and must go on while the machine sleeps.
  explicit LeaseBook(common::TimeSource clock = common::BootSeconds) : clock_(std::move(clock)) {}

  // Takes note that it is durable that the generation stands. Until now an earlier process of the coordinator may have
  // told a member so, so this moment counts as the time of the last answer.
  void Set(const std::string& job_uid, int generation, const std::string& digest, const std::string& job_secret);
  // Takes note that no generation of the job stands, because it has ended or the job is over.
  void Forget(const std::string& job_uid);

  // Returns whether a member may be told that its generation stands. If so, the member counts as answered now.
  bool Answer(const std::string& job_uid, int generation, const std::string& digest, const std::string& job_secret);
  // Takes note that a member was told with its directive that its generation stands.
  void Answered(const std::string& job_uid, int generation);

  // Takes note that it is durable that the job may spend for `seconds` from now. Nullopt means that there is no limit.
  void SetSpending(const std::string& job_uid, std::optional<double> seconds);
  // Returns for how many seconds the job may still spend. 0 means that it may not spend, and nullopt means that there
  // is no limit.
  std::optional<double> SpendSeconds(const std::string& job_uid);

  // Returns how many seconds are left until the last answer to a member of the generation is `seconds` old. When 0 is
  // returned, that time has passed or the generation does not stand, and from then on none of its members gets an
  // answer.
  double End(const std::string& job_uid, int generation, double seconds);

 private:
  struct Standing {
    int generation = 0;
    std::string digest;
    std::string secret;
    double answered = 0;
  };

  const common::TimeSource clock_;
  common::Mutex mutex_;
  std::unordered_map<std::string, Standing> standing_ ABSL_GUARDED_BY(mutex_);
  // `spend_until_` holds only the jobs that have a limit.
  std::unordered_map<std::string, double> spend_until_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace rekindle::coordinator

#endif  // REKINDLE_COORDINATOR_SERVER_BOARDS_LEASE_BOOK_H_
