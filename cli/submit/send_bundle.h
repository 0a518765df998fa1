// Sends packed folders of code to the coordinator, and shows what would be sent.
#ifndef REKINDLE_CLI_SUBMIT_SEND_BUNDLE_H_
#define REKINDLE_CLI_SUBMIT_SEND_BUNDLE_H_

#include "absl/status/status.h"
#include "cli/shared/context.h"
#include "common/bundle/pack_folder.h"

namespace rekindle::cli {

// Sends the bundle, as far as the coordinator does not have it. A connection that is cut is tried again, and what has
// arrived is not sent again. Says on stderr how many files and bytes it has, and which files are withheld.
absl::Status SendBundle(Context& context, const common::PackedFolder& packed);

// Prints which files are sent, with their sizes, and which are withheld.
void PrintBundle(const Context& context, const common::PackedFolder& packed);

}  // namespace rekindle::cli

#endif  // REKINDLE_CLI_SUBMIT_SEND_BUNDLE_H_
