// Makes a TLS handshake with a server that is not trusted, to learn why a proper handshake fails.
#ifndef REKINDLE_CLI_CONNECTION_TLS_HANDSHAKE_H_
#define REKINDLE_CLI_CONNECTION_TLS_HANDSHAKE_H_

#include <string>

#include "common/rpc/rpc.h"

namespace rekindle::cli {

// Holds what was seen in a handshake. Texts of the server's certificate are the server's own, so they must be printed
// through Printable.
struct TlsHandshake {
  // `connected` says that a server listens.
  bool connected = false;
  // `speaks_tls` says that the server has answered with a certificate.
  bool speaks_tls = false;
  // `talks` says that the server has sent something after the handshake, so it accepts this client.
  bool talks = false;
  // `trust` says why the server's certificate must not be trusted. It is empty if it can be.
  std::string trust;
  // `expired` says that the certificate has ended.
  bool expired = false;
  // `unknown_authority` says that another authority than the given one has signed the certificate.
  bool unknown_authority = false;
  // `other_name` says that the certificate names another host.
  bool other_name = false;
  // `names` lists the hosts that the certificate names.
  std::string names;
  // `until` is the time at which the certificate ends or has ended, as "2026-01-31 12:00 UTC".
  std::string until;
  // `hung_up` says that the server ended the connection instead of sending something.
  bool hung_up = false;
  // `silent` says that the server sent nothing at all. It may be stopped or overloaded.
  bool silent = false;
  // `alert` says in TLS's words why the server hung up. It is empty if the server did not say.
  std::string alert;
};

// Makes the handshake, which takes 2 s at most beside the look-up of the host. If `security` has no TLS files, nothing
// is trusted. It sends no token and no request.
TlsHandshake ShakeHands(const common::HostPort& at, const common::Security& security);

// Returns when a PEM certificate ended, in the form of `TlsHandshake::until`. It is empty if it has not ended or cannot
// be read.
std::string EndedAt(const std::string& certificate_file);

}  // namespace rekindle::cli

#endif  // REKINDLE_CLI_CONNECTION_TLS_HANDSHAKE_H_
