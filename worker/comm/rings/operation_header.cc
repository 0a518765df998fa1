#include "worker/comm/rings/operation_header.h"

#include <cstring>
#include <iterator>
#include <string>

#include "absl/strings/str_cat.h"

namespace rekindle::comm {
namespace {

std::string Describe(const OperationHeader& header) {
  const char* const names[] = {"?", "all-reduce", "broadcast", "all-gather", "point to point"};
  const char* name = names[header.kind < std::size(names) ? header.kind : 0];
  return absl::StrCat(name, " #", header.sequence, " of ", header.bytes, " bytes (type ", header.type, ", op ",
                      header.op, ", root ", header.root, ")");
}

}  // namespace

bool CheckHeader(Mesh& mesh, const OperationHeader& mine, const OperationHeader& theirs, int peer) {
  if (std::memcmp(&mine, &theirs, sizeof(mine)) == 0) return true;
  return mesh.Fail(absl::StrCat("rank ", peer, " issued ", Describe(theirs), " where this rank issued ", Describe(mine),
                                "; all ranks must issue the same operations in one order"));
}

}  // namespace rekindle::comm
