// Reports what is wrong in one job file, by line.
#ifndef REKINDLE_CLI_JOB_FILE_PROBLEMS_H_
#define REKINDLE_CLI_JOB_FILE_PROBLEMS_H_

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "cli/job_file/job_documents.h"

namespace rekindle::cli {

// Collects the problems of one job file. It is thread-compatible.
class Problems {
 public:
  explicit Problems(std::string source) : source_(std::move(source)) {}

  bool empty() const { return problems_.empty(); }

  // Adds what could not be read of a document.
  void AddUnread(const JobDocument& document);
  // Adds a problem. If `text` begins with the field of the job that it is about ("spec.seed: ..."), the problem gets
  // that field's line, or that of the section that should contain the field. If a flag gives the field, the problem
  // names the flag. Any other text gets no line. Further lines of the text stay below the first one.
  void Add(const JobDocument& document, const std::string& text);
  // Adds a coordinator's refusal of the document, which has one problem per line.
  void AddRefusal(const JobDocument& document, const absl::Status& refusal);
  // Adds a problem for every further job of the file that has the same name as an earlier one.
  void AddNamesGivenTwice(const JobDocuments& file);

  // Returns INVALID_ARGUMENT with each problem once, in the order of lines: "job.yaml:2: spec.seed: ...". Several
  // problems are listed below a line with their number. The list has the first common::kMostProblemsTold and the number
  // of the others. REQUIRES: there is a problem.
  absl::Status ToStatus() const;

 private:
  struct Problem {
    // `line` is the line of the job file that has the problem, or 0 if the problem has no line.
    int line = 0;
    std::string text;
  };

  std::string source_;
  std::vector<Problem> problems_;
  // `untold_` is the number of problems that the reader of the file or a coordinator has counted but not described.
  size_t untold_ = 0;
};

// Returns whether the status means that the job was refused, and not that the coordinator could not be asked.
bool IsRefusal(const absl::Status& status);

}  // namespace rekindle::cli

#endif  // REKINDLE_CLI_JOB_FILE_PROBLEMS_H_
