// When what a job's status does not tell has happened: since when it waits, and since when nothing of it was saved.
#ifndef REKINDLE_COORDINATOR_SERVER_METRICS_JOB_TIMES_H_
#define REKINDLE_COORDINATOR_SERVER_METRICS_JOB_TIMES_H_

#include <map>
#include <string>
#include <vector>

#include "rekindle/v1/job.pb.h"

namespace rekindle::coordinator {

// Times are Unix seconds. Thread-compatible.
class JobTimes {
 public:
  // `before` is null for a job that is seen for the first time.
  void Update(const v1::Job* before, const v1::Job& after, double now);
  void Forget(const std::string& uid) { jobs_.erase(uid); }

  // Since when a PENDING job waits: its submit, or where it has trained before, when it was seen to stop.
  double WaitsSince(const v1::Job& job) const;
  // Since when nothing of a job that trains was saved: its newest durable checkpoint, or when it began, where that is
  // later or where there is no checkpoint.
  double UnsavedSince(const v1::Job& job) const;

  // Did that job train when it was seen for the first time, so that its events know more than this does?
  bool IsGuessed(const std::string& uid) const;
  // What its events say (the latest of UnsavedSinceBy); 0: nothing, and the guess stays.
  void Recall(const std::string& uid, double unsaved_since);

 private:
  struct Times {
    double pending_since = 0;
    double training_since = 0;
    double saved_at = 0;
    bool guessed = false;
  };
  const Times* Find(const std::string& uid) const;

  std::map<std::string, Times> jobs_;  // By uid.
};

// What an event of a job says of since when nothing was saved; 0: nothing.
double UnsavedSinceBy(const v1::Event& event);

bool IsTraining(const v1::Job& job);

}  // namespace rekindle::coordinator

#endif  // REKINDLE_COORDINATOR_SERVER_METRICS_JOB_TIMES_H_
