// A TLS handshake with a server that is not trusted, to learn why a proper one fails.
#ifndef REKINDLE_CLI_CONNECTION_HANDSHAKE_H_
#define REKINDLE_CLI_CONNECTION_HANDSHAKE_H_

#include <string>

#include "common/rpc.h"

namespace rekindle::cli {

// What was seen. Texts of the server's certificate are its own words: print them through Printable.
struct Handshake {
  bool connected = false;          // Somebody listens.
  bool speaks_tls = false;         // The server has answered with a certificate.
  bool talks = false;              // It has said something after the handshake: it takes us as we are.
  std::string trust;               // Why its certificate is not to be trusted; empty: it is.
  bool expired = false;            // The certificate has ended.
  bool unknown_authority = false;  // Another authority than the given one has signed it.
  bool other_name = false;         // It names another host.
  std::string names;               // Whom the certificate names.
  std::string until;               // When it ends, or has ended: "2026-01-31 12:00 UTC".
  bool hung_up = false;            // It ended the connection instead of that.
  bool silent = false;             // It said nothing at all: it may be stopped, or have too much to do.
  std::string alert;               // Why the server hung up, in TLS's words; empty: it did not say.
};

// Takes 2 s at most beside the look-up of the host. Without files (`security` has no TLS) nothing is trusted. Sends no
// token and no request.
Handshake ShakeHands(const common::HostPort& at, const common::Security& security);

// When a PEM certificate ended, as above; empty: it has not, or cannot be read.
std::string EndedAt(const std::string& certificate_file);

}  // namespace rekindle::cli

#endif  // REKINDLE_CLI_CONNECTION_HANDSHAKE_H_
