// A job's file for tests and for the fuzzers' corpus. What is in it but for format and uid is nobody's here.
#ifndef REKINDLE_CHECKPOINT_JOB_FILE_TESTING_H_
#define REKINDLE_CHECKPOINT_JOB_FILE_TESTING_H_

#include <string>

#include "checkpoint/job_file.h"

namespace rekindle::checkpoint {

// The inner text of one of that job, with `more` in it.
inline std::string InnerOf(const std::string& job_uid, const std::string& more = R"("steps":7)") {
  return R"({"format":1,"job_uid":")" + job_uid + R"(","record":{)" + more + "}}";
}

// The whole file.
inline std::string JobFileOf(const std::string& job_uid, const std::string& more = R"("steps":7)") {
  return FrameJobFile(InnerOf(job_uid, more));
}

}  // namespace rekindle::checkpoint

#endif  // REKINDLE_CHECKPOINT_JOB_FILE_TESTING_H_
