// What is wrong between the command and a coordinator that does not answer it.
#ifndef REKINDLE_CLI_CONNECTION_DIAGNOSIS_H_
#define REKINDLE_CLI_CONNECTION_DIAGNOSIS_H_

#include <string>

#include "cli/connection/connection.h"
#include "cli/connection/handshake.h"

namespace rekindle::cli {

// After a call has failed as UNAVAILABLE: what of TLS explains it, and which flag or variable mends it. Empty: nothing
// does. Connects to the coordinator, for 2 s at most beside the look-up of its name.
std::string DiagnoseTls(const Connection& connection);

// Explains what was seen. `own_end`: when the command's own certificate ended; empty: it has not.
std::string ExplainTls(const Connection& connection, const Handshake& seen, const std::string& own_end);

// After a call was refused as UNAUTHENTICATED; `said`: how.
std::string ExplainToken(const Connection& connection, const std::string& said = "");

}  // namespace rekindle::cli

#endif  // REKINDLE_CLI_CONNECTION_DIAGNOSIS_H_
