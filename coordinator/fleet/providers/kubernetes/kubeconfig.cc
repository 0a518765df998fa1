#include "coordinator/fleet/providers/kubernetes/kubeconfig.h"

#include <sys/mman.h>
#include <unistd.h>
#include <yaml-cpp/yaml.h>

#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "common/files/file.h"

namespace rekindle::fleet {
namespace {

constexpr size_t kMaxConfig = 1 << 20;
constexpr size_t kMaxToken = 16 << 10;
constexpr char kServiceAccount[] = "/var/run/secrets/kubernetes.io/serviceaccount";

// Returns a FetchToken that reads the token's file anew for each request, because the cluster rotates the token.
FetchToken FromFile(const std::string& path) {
  return [path](double) -> absl::StatusOr<Token> {
    const auto text = common::ReadFile(*common::PosixFileSystem(), path, kMaxToken);
    if (!text.ok()) return absl::UnauthenticatedError(std::string(text.status().message()));
    return Token{.value = std::string(absl::StripAsciiWhitespace(*text))};
  };
}

std::string TextOf(const YAML::Node& node, const char* key) {
  return node.IsMap() && node[key] && node[key].IsScalar() ? node[key].as<std::string>() : "";
}

// Finds the entry with the name `name` in a list of a kubeconfig, such as "clusters", and returns its member `content`.
YAML::Node Entry(const YAML::Node& root, const char* list, const std::string& name, const char* content) {
  if (!root.IsMap() || !root[list] || !root[list].IsSequence()) return YAML::Node();
  for (const YAML::Node& each : root[list]) {
    if (TextOf(each, "name") == name && each[content]) return each[content];
  }
  return YAML::Node();
}

absl::Status Wrong(const std::string& why) { return absl::InvalidArgumentError(absl::StrCat("kubeconfig: ", why)); }

// Returns the path that the field `key` of a kubeconfig states. Where there is a field `key`-data, which holds a file's
// content in base64, that content is written to a file in memory, and the path of this file is returned. Returns an
// empty text where neither field is there.
absl::StatusOr<std::string> PathOf(const YAML::Node& node, const std::string& key, const std::string& folder,
                                   KubernetesAccess* access) {
  const std::string data = TextOf(node, (key + "-data").c_str());
  if (data.empty()) {
    const std::string path = TextOf(node, key.c_str());
    return path.empty() || path[0] == '/' ? path : folder + "/" + path;
  }
  std::string content;
  if (!absl::Base64Unescape(data, &content)) return Wrong(absl::StrCat(key, "-data is no base64"));
  auto file = std::make_shared<common::UniqueFd>(memfd_create("rekindle-kubeconfig", MFD_CLOEXEC));
  if (!file->valid()) return common::ErrnoError("memfd_create");
  if (write(file->get(), content.data(), content.size()) != static_cast<ssize_t>(content.size())) {
    return common::ErrnoError("write to memory");
  }
  access->held.push_back(file);
  return absl::StrCat("/proc/self/fd/", file->get());
}

absl::Status ReadUser(const YAML::Node& user, const std::string& folder, KubernetesAccess* access) {
  if (user.IsMap() && (user["exec"] || user["auth-provider"])) {
    return Wrong("its user needs a credential plugin, which is not run: use a token or a client certificate");
  }
  if (const std::string file = TextOf(user, "tokenFile"); !file.empty()) {
    access->token = FromFile(file[0] == '/' ? file : folder + "/" + file);
  } else if (const std::string token = TextOf(user, "token"); !token.empty()) {
    access->token = [token](double) { return Token{.value = token}; };
  }
  auto cert = PathOf(user, "client-certificate", folder, access);
  auto key = PathOf(user, "client-key", folder, access);
  if (!cert.ok()) return cert.status();
  if (!key.ok()) return key.status();
  access->cert_file = *std::move(cert);
  access->key_file = *std::move(key);
  if (access->token || (!access->cert_file.empty() && !access->key_file.empty())) return absl::OkStatus();
  return Wrong("its user has neither token nor client certificate");
}

absl::StatusOr<KubernetesAccess> Read(const YAML::Node& root, const std::string& folder) {
  const std::string current = TextOf(root, "current-context");
  const YAML::Node context = Entry(root, "contexts", current, "context");
  const YAML::Node cluster = Entry(root, "clusters", TextOf(context, "cluster"), "cluster");
  KubernetesAccess access{.endpoint = TextOf(cluster, "server"), .name_space = TextOf(context, "namespace")};
  if (access.endpoint.empty()) {
    return Wrong(absl::StrCat("the cluster of its current context '", current, "' has no server"));
  }
  if (access.endpoint.back() == '/') access.endpoint.pop_back();
  if (access.name_space.empty()) access.name_space = "default";
  auto authority = PathOf(cluster, "certificate-authority", folder, &access);
  if (!authority.ok()) return authority.status();
  access.ca_file = *std::move(authority);
  const YAML::Node user = Entry(root, "users", TextOf(context, "user"), "user");
  if (absl::Status status = ReadUser(user, folder, &access); !status.ok()) return status;
  return access;
}

}  // namespace

absl::StatusOr<KubernetesAccess> InCluster(const Variables& variables, const std::string& root) {
  const std::string host = variables("KUBERNETES_SERVICE_HOST");
  if (host.empty()) {
    return absl::FailedPreconditionError("no pod of Kubernetes: name a kubeconfig in machines.kubeconfig");
  }
  const std::string folder = root + kServiceAccount;
  const auto space = common::ReadFile(*common::PosixFileSystem(), folder + "/namespace", kMaxToken);
  const std::string shown = host.find(':') == std::string::npos ? host : absl::StrCat("[", host, "]");
  return KubernetesAccess{
      .endpoint = absl::StrCat("https://", shown, ":", variables("KUBERNETES_SERVICE_PORT")),
      .name_space = space.ok() ? std::string(absl::StripAsciiWhitespace(*space)) : "default",
      .ca_file = folder + "/ca.crt",
      .token = FromFile(folder + "/token"),
  };
}

absl::StatusOr<KubernetesAccess> ParseKubeconfig(const std::string& text, const std::string& folder) {
  try {
    return Read(YAML::Load(text), folder);
  } catch (const YAML::Exception& error) {
    return Wrong(absl::StrCat("no YAML, near line ", error.mark.line + 1));
  }
}

absl::StatusOr<KubernetesAccess> ReadKubeconfig(const std::string& path) {
  const auto text = common::ReadFile(*common::PosixFileSystem(), path, kMaxConfig);
  if (!text.ok()) return absl::InvalidArgumentError(std::string(text.status().message()));
  return ParseKubeconfig(*text, common::DirName(path));
}

}  // namespace rekindle::fleet
