#include "cli/text/job_text.h"

#include "worker/data/declared/data_kind.h"

namespace rekindle::cli {

std::string StateName(v1::JobState state) { return v1::JobState_Name(state); }

bool Ended(v1::JobState state) { return state == v1::SUCCEEDED || state == v1::FAILED || state == v1::CANCELLED; }

std::string UnitOf(const v1::JobSpec& spec) {
  return train::IsWindow(data::KindOf(spec.data()).form) ? "token" : "sample";
}

}  // namespace rekindle::cli
