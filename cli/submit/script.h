// Runs a user's script so that it describes its job instead of training it.
#ifndef REKINDLE_CLI_SUBMIT_SCRIPT_H_
#define REKINDLE_CLI_SUBMIT_SCRIPT_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "cli/job_file/job_documents.h"

namespace rekindle::cli {

// Returns whether the file is a script, by its name.
bool IsScript(const std::string& path);
// Returns the folder of a script.
std::string FolderOfScript(const std::string& path);

// Returns the path of the interpreter `python`, which is a path or a name in the PATH. INVALID_ARGUMENT says that no
// folder of the PATH has it.
absl::StatusOr<std::string> FindPython(const std::string& python);

// Runs the script with the interpreter `python`, a path or a name in the PATH. Its call of rekindle.run writes the job,
// whose bundle is the script's folder, and ends the script. The script finds the name of that file in the environment
// variable REKINDLE_DESCRIBE. INVALID_ARGUMENT says that the script has failed or has described no job.
absl::StatusOr<JobDocuments> DescribeScript(const std::string& path, const std::string& python,
                                            const std::vector<Override>& overrides);

}  // namespace rekindle::cli

#endif  // REKINDLE_CLI_SUBMIT_SCRIPT_H_
