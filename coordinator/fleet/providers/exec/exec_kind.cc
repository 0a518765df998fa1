#include "coordinator/fleet/providers/exec/exec_kind.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "common/spec/field_check.h"
#include "coordinator/fleet/providers/exec/exec.h"

namespace rekindle::fleet {
namespace {

constexpr MachineField kFields[] = {{"command", MachineField::Form::kOther, /*needed=*/true}};

absl::Status Resolve(const std::string& path, v1::Fleet::Pool& pool) {
  const std::string& program = pool.machines().command(0);
  if (program.starts_with("/")) return absl::OkStatus();
  return common::WrongField(path + ".machines.command", absl::StrCat("'", program, "' must be an absolute path"));
}

std::string Account(const v1::Fleet::Pool& pool) { return absl::StrJoin(pool.machines().command(), " "); }

absl::StatusOr<std::unique_ptr<Provider>> Open(const Pools& pools, const ProviderOptions&) {
  const auto& command = pools[0].machines().command();
  return NewExecProvider({command.begin(), command.end()});
}

}  // namespace

constinit const ProviderKind kExecKind{
    .name = "exec", .fields = kFields, .resolve = Resolve, .account = Account, .open = Open};

}  // namespace rekindle::fleet
