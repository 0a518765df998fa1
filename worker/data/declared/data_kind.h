// Declares what a kind of data is, without the code that reads it (worker/data/kinds). The coordinator fills in and
// checks spec.data with this, and trainers find their files by it.
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

// Takes one thing that is wrong: the field, what is wrong and how to mend it, and the other fields that the text speaks
// of.
using Refuse =
    std::function<void(const std::string& field, const std::string& why, const std::vector<std::string>& reads)>;

struct DataKind {
  // `name` is that of the kind's field in spec.data. The field is a list of files, or a message that has one in its
  // field `files`.
  const char* name;
  // `files` completes "list the files or globs".
  const char* files;
  train::SampleForm form;
  // Each file has whole records of this many bytes. A token is a record, and so is a sample of another form. With 0 the
  // size is not known before the file is decoded.
  int record_bytes = 0;
  // Each of the functions below may be null.
  // Fills in the defaults of the kind's own fields.
  void (*fill)(v1::JobSpec::Data& data) = nullptr;
  // Checks the kind's own fields, except its files.
  void (*check)(const v1::JobSpec::Data& data, const Refuse& refuse) = nullptr;
  // Returns the number of values of a sample that is no window.
  int (*values)(const v1::JobSpec::Data& data) = nullptr;
  // Copies the fields on which the time and the memory of a micro-batch depend. It is called for data of other kinds,
  // too.
  void (*copy_size)(const v1::JobSpec::Data& from, v1::JobSpec::Data* to) = nullptr;
};

// Returns all kinds, in the order in which they are checked.
std::span<const DataKind* const> DataKinds();
// Returns the first kind whose samples have that form. REQUIRES: there is one.
const DataKind& KindOf(train::SampleForm form);
// Returns the kind that the spec has, or the first of all if it has none.
const DataKind& KindOf(const v1::JobSpec::Data& data);

bool IsGiven(const v1::JobSpec::Data& data, const DataKind& kind);
// Returns the path of the kind's list of files, such as "spec.data.text".
std::string FilesField(const DataKind& kind);
// Returns the entries of that list, which may be none.
std::vector<std::string> FilesOf(const v1::JobSpec::Data& data, const DataKind& kind);
// Calls `change` with each entry of the lists of all kinds.
void ForEachFile(v1::JobSpec::Data* data, const std::function<void(std::string&)>& change);

}  // namespace rekindle::data

#endif  // REKINDLE_WORKER_DATA_DECLARED_DATA_KIND_H_
