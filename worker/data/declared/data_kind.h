// Declares what a kind of data is, without the code that reads it (worker/data/kinds). The coordinator uses these
// declarations to fill in and check a job's spec.data, and trainers use them to find the job's files.
#ifndef REKINDLE_WORKER_DATA_DECLARED_DATA_KIND_H_
#define REKINDLE_WORKER_DATA_DECLARED_DATA_KIND_H_

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "rekindle/v1/job.pb.h"
#include "worker/contract/sample_form.h"

namespace rekindle::data {

// Takes one error in a job's data: the field, what is wrong and how to mend it, and the other fields that the text
// mentions.
using Refuse =
    std::function<void(const std::string& field, const std::string& why, const std::vector<std::string>& reads)>;

struct DataKind {
  // `name` is the name of the kind's field in spec.data. The field is a list of files, or a message with a list of
  // files in its field `files`.
  const char* name;
  // `files` is a text such as "to train on", which completes the advice "list the files or globs ..." in an error.
  const char* files;
  train::SampleForm form;
  // `record_bytes` says that each file has whole records of that size. A record is one token, or one sample if the
  // samples are not windows of tokens. With 0 the size is not known before the file is decoded.
  int record_bytes = 0;
  // `fill`, `check`, `values` and `copy_size` may each be null. `fill` sets the defaults of the kind's own fields.
  void (*fill)(v1::JobSpec::Data& data) = nullptr;
  // `check` checks the kind's own fields, except its list of files.
  void (*check)(const v1::JobSpec::Data& data, const Refuse& refuse) = nullptr;
  // `values` returns the number of values of a sample that is not a window of tokens.
  int (*values)(const v1::JobSpec::Data& data) = nullptr;
  // `copy_size` copies the fields on which the time and the memory of a micro-batch depend. It is called also for data
  // of other kinds.
  void (*copy_size)(const v1::JobSpec::Data& from, v1::JobSpec::Data* to) = nullptr;
};

// Returns all kinds of data, in the order in which they are checked.
std::span<const DataKind* const> DataKinds();
// Returns the first kind of data whose samples have the form `form`. REQUIRES: there is one.
const DataKind& KindOf(train::SampleForm form);
// Returns the kind of data that the job names, or the first of all kinds if it names none.
const DataKind& KindOf(const v1::JobSpec::Data& data);

bool IsGiven(const v1::JobSpec::Data& data, const DataKind& kind);
// Returns the path of the field with the kind's list of files, such as "spec.data.text".
std::string FilesField(const DataKind& kind);
// Returns the entries of the kind's list of files, which may be none.
std::vector<std::string> FilesOf(const v1::JobSpec::Data& data, const DataKind& kind);
// Calls `change` with each entry of the lists of files of all kinds.
void ForEachFile(v1::JobSpec::Data* data, const std::function<void(std::string&)>& change);

}  // namespace rekindle::data

#endif  // REKINDLE_WORKER_DATA_DECLARED_DATA_KIND_H_
