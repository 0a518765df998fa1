// Remembers times that a job's status does not contain: since when the job waits, and since when none of its work was
// saved.
#ifndef REKINDLE_COORDINATOR_SERVER_METRICS_JOB_TIMES_H_
#define REKINDLE_COORDINATOR_SERVER_METRICS_JOB_TIMES_H_

#include <map>
#include <string>
#include <vector>

#include "rekindle/v1/job.pb.h"

namespace rekindle::coordinator {

// Times are Unix seconds. JobTimes is thread-compatible.
class JobTimes {
 public:
  // Updates the times of a job after a change. `before` and `after` are the job before and after the change. `before`
  // is null for a job that is seen for the first time.
  void Update(const v1::Job* before, const v1::Job& after, double now);
  void Forget(const std::string& uid) { jobs_.erase(uid); }

  // Returns since when a PENDING job waits. That is its submission, or, if it has trained before, the moment at which
  // it was seen to stop.
  double WaitsSince(const v1::Job& job) const;
  // Returns since when nothing of a job that trains was saved. That is the time of its newest durable checkpoint, or
  // the time at which it began to train, whichever is later.
  double UnsavedSince(const v1::Job& job) const;

  // Returns whether UnsavedSince is only a guess. It is one if the job was already training when it was seen for the
  // first time. The job's events may then tell the time better.
  bool IsGuessed(const std::string& uid) const;
  // Replaces a guessed UnsavedSince by `unsaved_since`, which is the latest UnsavedSinceBy of the job's events. 0 means
  // that the events do not say the time, and the guess stays.
  void Recall(const std::string& uid, double unsaved_since);

 private:
  struct Times {
    double pending_since = 0;
    double training_since = 0;
    double saved_at = 0;
    bool guessed = false;
  };
  const Times* Find(const std::string& uid) const;

  // `jobs_` maps the uid of a job to the times of the job.
  std::map<std::string, Times> jobs_;
};

// Returns since when, according to an event of a job, nothing was saved, or 0 when the event does not say.
double UnsavedSinceBy(const v1::Event& event);

bool IsTraining(const v1::Job& job);

}  // namespace rekindle::coordinator

#endif  // REKINDLE_COORDINATOR_SERVER_METRICS_JOB_TIMES_H_
