// Makes a job.json for tests and for the fuzzers' corpus. The code under test reads only the format and the uid from
// it.
#ifndef REKINDLE_CHECKPOINT_TESTING_FRAMED_JOB_FILE_TESTING_H_
#define REKINDLE_CHECKPOINT_TESTING_FRAMED_JOB_FILE_TESTING_H_

#include <string>

#include "checkpoint/format/framed_job_file.h"

namespace rekindle::checkpoint {

// Returns the inner text of a job.json of the job `job_uid`, with `more` in the job's record.
inline std::string InnerOf(const std::string& job_uid, const std::string& more = R"("steps":7)") {
  return R"({"format":1,"job_uid":")" + job_uid + R"(","record":{)" + more + "}}";
}

// Returns the whole job.json, with frame and checksum.
inline std::string JobFileOf(const std::string& job_uid, const std::string& more = R"("steps":7)") {
  return FrameJobFile(InnerOf(job_uid, more));
}

}  // namespace rekindle::checkpoint

#endif  // REKINDLE_CHECKPOINT_TESTING_FRAMED_JOB_FILE_TESTING_H_
