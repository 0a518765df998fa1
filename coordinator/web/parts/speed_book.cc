#include "coordinator/web/parts/speed_book.h"

#include <algorithm>
#include <utility>

#include "common/sync/mutex.h"

namespace rekindle::coordinator::web {

void SpeedBook::Take(const std::vector<JobPointer>& jobs, double at) {
  const common::MutexLock lock(mutex_);
  ++turn_;
  std::vector<const v1::Job*> fresh;
  for (const JobPointer& job : jobs) {
    if (job->status().state() != v1::RUNNING || job->status().step() == 0) continue;
    const auto line = lines_.find(job->uid());
    if (line == lines_.end()) {
      fresh.push_back(job.get());
    } else {
      Add(job->status(), at, line->second);
    }
  }
  if (lines_.size() + fresh.size() > kJobs) DropUntouched(fresh.size());
  for (const v1::Job* job : fresh) {
    if (lines_.size() < kJobs) Add(job->status(), at, lines_[job->uid()]);
  }
}

void SpeedBook::Add(const v1::JobStatus& status, double at, Line& line) {
  line.touched = turn_;
  if (line.looks++ % line.every != 0) return;
  line.samples.push_back({at, status.step(), status.tokens_per_second(), status.step_seconds()});
  if (line.samples.size() < kSamples) return;
  for (size_t i = 0; 2 * i < line.samples.size(); ++i) line.samples[i] = line.samples[2 * i];
  line.samples.resize((line.samples.size() + 1) / 2);
  line.every *= 2;
}

void SpeedBook::DropUntouched(size_t wanted) {
  std::vector<std::pair<uint64_t, std::string>> untouched;
  for (const auto& [uid, line] : lines_) {
    if (line.touched < turn_) untouched.emplace_back(line.touched, uid);
  }
  std::sort(untouched.begin(), untouched.end());
  for (const auto& [touched, uid] : untouched) {
    if (lines_.size() + wanted <= kJobs) return;
    lines_.erase(uid);
  }
}

std::vector<SpeedBook::Sample> SpeedBook::Of(const std::string& uid) const {
  const common::MutexLock lock(mutex_);
  const auto found = lines_.find(uid);
  return found == lines_.end() ? std::vector<Sample>() : found->second.samples;
}

}  // namespace rekindle::coordinator::web
