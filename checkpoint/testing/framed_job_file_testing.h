// Makes a job file for tests and for the fuzzers' corpus. Nothing in this folder reads more of it than format and uid.
#ifndef REKINDLE_CHECKPOINT_TESTING_FRAMED_JOB_FILE_TESTING_H_
#define REKINDLE_CHECKPOINT_TESTING_FRAMED_JOB_FILE_TESTING_H_

#include <string>

#include "checkpoint/format/framed_job_file.h"

namespace rekindle::checkpoint {

// Returns the inner text of a file of that job, with `more` in its record.
inline std::string InnerOf(const std::string& job_uid, const std::string& more = R"("steps":7)") {
  return R"({"format":1,"job_uid":")" + job_uid + R"(","record":{)" + more + "}}";
}

// Returns the whole file.
inline std::string JobFileOf(const std::string& job_uid, const std::string& more = R"("steps":7)") {
  return FrameJobFile(InnerOf(job_uid, more));
}

}  // namespace rekindle::checkpoint

#endif  // REKINDLE_CHECKPOINT_TESTING_FRAMED_JOB_FILE_TESTING_H_
