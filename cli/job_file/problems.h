// What is wrong in one job file, told by line.
#ifndef REKINDLE_CLI_JOB_FILE_PROBLEMS_H_
#define REKINDLE_CLI_JOB_FILE_PROBLEMS_H_

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "cli/job_file/job_file.h"

namespace rekindle::cli {

// Thread-compatible.
class Problems {
 public:
  explicit Problems(std::string source) : source_(std::move(source)) {}

  bool empty() const { return problems_.empty(); }

  // What could not be read of a document.
  void AddUnread(const JobDocument& document);
  // `text` begins with the field of the job that it is about ("spec.seed: ..."): it is put at that field's line, or
  // that of the section that should have it; or names the flag. Any other text is of no line. It may have lines below,
  // which stay below it.
  void Add(const JobDocument& document, const std::string& text);
  // A coordinator's refusal of the document: several such texts, one a line.
  void AddRefusal(const JobDocument& document, const absl::Status& refusal);
  // Every further job of one name.
  void AddNamesGivenTwice(const JobFile& file);

  // INVALID_ARGUMENT, in the order of lines, each once: "job.yaml:2: spec.seed: ..."; of several under a line with
  // their number, the first common::kMostProblemsTold and how many more. REQUIRES: not empty.
  absl::Status ToStatus() const;

 private:
  struct Problem {
    int line = 0;  // 0: none.
    std::string text;
  };

  std::string source_;
  std::vector<Problem> problems_;
  size_t untold_ = 0;  // That a reader or a coordinator only counted.
};

// Is that a refusal of the job, rather than a failure to ask?
bool IsRefusal(const absl::Status& status);

}  // namespace rekindle::cli

#endif  // REKINDLE_CLI_JOB_FILE_PROBLEMS_H_
