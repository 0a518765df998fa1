// Explains what is wrong between the command and a coordinator that does not answer it.
#ifndef REKINDLE_CLI_CONNECTION_DIAGNOSIS_H_
#define REKINDLE_CLI_CONNECTION_DIAGNOSIS_H_

#include <string>

#include "cli/connection/connection.h"
#include "cli/connection/tls_handshake.h"

namespace rekindle::cli {

// Explains a call that has failed as UNAVAILABLE: what is wrong with TLS, and which flag or variable fixes it. Returns
// an empty text if TLS does not explain the failure. It connects to the coordinator, which takes 2 s at most beside the
// look-up of its name.
std::string DiagnoseTls(const Connection& connection);

// Explains what was seen in a TLS handshake. `own_end` is the time at which the command's own certificate expired, or
// empty if it has not expired.
std::string ExplainTls(const Connection& connection, const TlsHandshake& seen, const std::string& own_end);

// Explains a call that was refused as UNAUTHENTICATED. `said` is the message of the refusal.
std::string ExplainToken(const Connection& connection, const std::string& said = "");

}  // namespace rekindle::cli

#endif  // REKINDLE_CLI_CONNECTION_DIAGNOSIS_H_
