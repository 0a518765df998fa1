#include "cli/job_file/overrides.h"

#include "common/spec/yaml.h"
#include "common/text/problem_list.h"

namespace rekindle::cli {
namespace {

constexpr size_t kMaxShown = 100;

std::string FirstName(const std::string& field) { return field.substr(0, field.find('.')); }

}  // namespace

void AddSetFlag(CLI::App* verb, std::vector<std::string>* arguments) {
  verb->add_option("--set", *arguments,
                   "Sets a field of the job, whatever the file says, as training.steps=100; of two for one field the "
                   "last counts")
      ->type_name("FIELD=VALUE")
      ->allow_extra_args(false)
      ->check([](const std::string& argument) {
        const size_t equals = argument.find('=');
        const bool names_one = equals != std::string::npos && equals > 0;
        return names_one ? std::string() : "write FIELD=VALUE, as --set training.steps=100";
      });
}

Override ParseOverride(const std::string& argument) {
  const size_t equals = argument.find('=');
  std::string field = argument.substr(0, equals);
  if (v1::Job::descriptor()->FindFieldByName(FirstName(field)) == nullptr) field = "spec." + field;
  return {field, argument.substr(equals + 1), "--set " + common::OneLine(argument, kMaxShown)};
}

absl::Status Apply(const Override& override, v1::Job* job) {
  const std::string first = FirstName(override.field);
  if (first == "uid" || first == "status") {
    return absl::InvalidArgumentError("`" + first + "` is the coordinator's to set: leave it out");
  }
  return common::SetYamlField(override.field, override.value, job);
}

}  // namespace rekindle::cli
