#include "common/bundle/never_sent.h"

#include <algorithm>
#include <iterator>
#include <string>

#include "absl/strings/ascii.h"
#include "common/bundle/ignore_rules.h"

namespace rekindle::common {
namespace {

constexpr const char* kNames[] = {
    // The histories of repositories keep what was ever in them.
    ".git", ".hg", ".svn", ".jj",
    // These files hold settings with passwords in them.
    ".env", ".env.*", "*.env", ".envrc", ".netrc", "_netrc", ".pypirc", ".npmrc", ".git-credentials", ".htpasswd",
    ".vault-token", ".pgpass", ".my.cnf", "secrets.toml",
    // These files hold keys and certificates.
    "id_rsa*", "id_dsa*", "id_ecdsa*", "id_ed25519*", "*.pem", "*.key", "*.p12", "*.pfx", "*.jks", "*.keystore",
    "*.kdbx", "*.ppk", "*.gpg", "*.asc",
    // The tools of clouds keep their keys here.
    ".ssh", ".gnupg", ".aws", ".azure", ".kube", ".docker", ".boto", ".s3cfg", ".gcloud", ".oci",
    "application_default_credentials.json", "service_account*.json", "service-account*.json", "credentials.json",
    "client_secret*.json", ".terraform", "*.tfstate", "*.tfstate.*", "kubeconfig"};

}  // namespace

const char kLeftOutByDefault[] =
    "__pycache__/\n*.pyc\n.venv/\nvenv/\n.ipynb_checkpoints/\n.mypy_cache/\n.pytest_cache/\n.ruff_cache/\n.tox/\n"
    ".DS_Store\n";

bool IsNeverSent(std::string_view name) {
  std::string lower(name);
  absl::AsciiStrToLower(&lower);
  return std::any_of(std::begin(kNames), std::end(kNames),
                     [&](const char* pattern) { return MatchesGlob(pattern, lower); });
}

}  // namespace rekindle::common
