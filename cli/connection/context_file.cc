#include "cli/connection/context_file.h"

#include <sys/stat.h>
#include <yaml-cpp/yaml.h>

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <set>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "cli/text/safe_text.h"
#include "common/files/file.h"
#include "common/files/home_folder.h"
#include "common/text/nearest.h"

namespace rekindle::cli {
namespace {

constexpr size_t kMaxBytes = 1 << 20;
constexpr size_t kLongestName = 63;
constexpr char kHead[] = "# Written by `rekindle context`; `rekindle help context` tells what it is for.\n";

struct Field {
  const char* name;
  std::string NamedCoordinator::*value;
  std::string common::Security::*file;
};
constexpr Field kFields[] = {{"endpoint", &NamedCoordinator::endpoint, nullptr},
                             {"tls_ca", nullptr, &common::Security::tls_ca},
                             {"tls_cert", nullptr, &common::Security::tls_cert},
                             {"tls_key", nullptr, &common::Security::tls_key},
                             {"token_file", nullptr, &common::Security::token_file}};

std::string& ValueOf(NamedCoordinator& context, const Field& field) {
  return field.value != nullptr ? context.*field.value : context.security.*field.file;
}

class Reader {
 public:
  explicit Reader(const std::string& path) : path_(path) {}

  absl::StatusOr<Contexts> Read(const YAML::Node& root) {
    Contexts out;
    if (root.IsNull()) return out;
    if (absl::Status status = CheckFields(root, "the file", {"current", "contexts"}); !status.ok()) return status;
    if (root["current"]) {
      if (!root["current"].IsScalar()) return Error(root["current"], "`current` must be a name");
      out.current = root["current"].Scalar();
    }
    if (!root["contexts"] || root["contexts"].IsNull()) return out;
    if (!root["contexts"].IsMap()) return Error(root["contexts"], "`contexts` must be a mapping of names");
    for (const auto& entry : root["contexts"]) {
      const std::string name = entry.first.IsScalar() ? entry.first.Scalar() : "";
      if (!IsContextName(name)) return Error(entry.first, "'" + Printable(name) + "' is no name of a context");
      auto context = ReadContext(entry.second, name);
      if (!context.ok()) return context.status();
      out.contexts[name] = *std::move(context);
    }
    return out;
  }

 private:
  absl::Status Error(const YAML::Node& node, const std::string& what) const {
    return absl::InvalidArgumentError(absl::StrCat(path_, ":", node.Mark().line + 1, ": ", what));
  }

  absl::Status CheckFields(const YAML::Node& node, const std::string& what, const std::vector<std::string>& known) {
    if (!node.IsMap()) return Error(node, what + " must be a mapping of fields");
    std::set<std::string> seen;
    for (const auto& entry : node) {
      const std::string name = entry.first.IsScalar() ? entry.first.Scalar() : "";
      if (!seen.insert(name).second) return Error(entry.first, absl::StrCat("`", name, "` is given twice"));
      if (std::find(known.begin(), known.end(), name) != known.end()) continue;
      const std::string nearest = common::Nearest(name, known);
      return Error(entry.first, absl::StrCat("`", Printable(name), "` is not a field; ",
                                             nearest.empty() ? "known are " + absl::StrJoin(known, ", ")
                                                             : "did you mean `" + nearest + "`?"));
    }
    return absl::OkStatus();
  }

  absl::StatusOr<NamedCoordinator> ReadContext(const YAML::Node& node, const std::string& name) {
    std::vector<std::string> known;
    for (const Field& field : kFields) known.push_back(field.name);
    if (absl::Status status = CheckFields(node, "context " + name, known); !status.ok()) return status;
    NamedCoordinator context;
    for (const Field& field : kFields) {
      const YAML::Node value = node[field.name];
      if (!value || value.IsNull()) continue;
      if (!value.IsScalar()) return Error(value, absl::StrCat("`", field.name, "` of ", name, " must be one value"));
      ValueOf(context, field) = value.Scalar();
    }
    if (context.endpoint.empty()) return Error(node, absl::StrCat("context ", name, " has no `endpoint`"));
    return context;
  }

  const std::string path_;
};

}  // namespace

std::string ContextsPath() {
  const char* config = std::getenv("XDG_CONFIG_HOME");
  if (config != nullptr && *config == '/') return absl::StrCat(config, "/rekindle/contexts.yaml");
  const std::string home = common::HomeFolder();
  return home.empty() ? "" : absl::StrCat(home, "/.config/rekindle/contexts.yaml");
}

absl::StatusOr<Contexts> ReadContexts(const std::string& path) {
  if (path.empty()) return Contexts();
  const auto text = common::ReadFile(*common::PosixFileSystem(), path, kMaxBytes);
  if (absl::IsNotFound(text.status())) return Contexts();
  if (!text.ok()) return text.status();
  try {
    return Reader(path).Read(YAML::Load(*text));
  } catch (const YAML::Exception& error) {
    return absl::InvalidArgumentError(absl::StrCat(path, ":", error.mark.line + 1, ": no YAML: ", error.msg));
  }
}

absl::Status WriteContexts(const std::string& given, const Contexts& contexts) {
  if (given.empty()) return absl::FailedPreconditionError("there is no home folder to keep contexts in: set HOME");
  // If the path of the file of contexts is a link, the link stays and the file to which it leads is replaced. Some
  // users keep their configuration files elsewhere and link to them.
  std::error_code error;
  const std::filesystem::path target = std::filesystem::canonical(given, error);
  const std::string path = error ? given : target.string();
  common::FileSystem& files = *common::PosixFileSystem();
  const std::string folder = common::DirName(path);
  if (!files.Stat(folder).ok()) {
    if (absl::Status made = common::CreateFolders(files, folder); !made.ok()) return made;
    if (chmod(folder.c_str(), 0700) != 0) return common::ErrnoStatus(errno, "cannot change the mode of", folder);
  }
  YAML::Emitter out;
  out << YAML::BeginMap;
  if (!contexts.current.empty()) out << YAML::Key << "current" << YAML::Value << contexts.current;
  out << YAML::Key << "contexts" << YAML::Value << YAML::BeginMap;
  for (const auto& [name, context] : contexts.contexts) {
    out << YAML::Key << name << YAML::Value << YAML::BeginMap;
    NamedCoordinator copy = context;
    for (const Field& field : kFields) {
      const std::string& value = ValueOf(copy, field);
      if (!value.empty()) out << YAML::Key << field.name << YAML::Value << YAML::DoubleQuoted << value;
    }
    out << YAML::EndMap;
  }
  out << YAML::EndMap << YAML::EndMap;
  const std::string text = absl::StrCat(kHead, out.c_str(), "\n");
  const std::string unfinished = common::TemporaryName(path);
  auto file = files.Create(unfinished);
  absl::Status status = file.status();
  if (status.ok()) status = (*file)->Append(text.data(), text.size());
  if (status.ok()) status = (*file)->Sync();
  if (file.ok()) status.Update((*file)->Close());
  if (status.ok()) status = files.Rename(unfinished, path);
  if (!status.ok() && file.ok()) files.Remove(unfinished).IgnoreError();
  return status;
}

absl::StatusOr<NamedCoordinator> FindContext(const Contexts& contexts, const std::string& name) {
  const auto found = contexts.contexts.find(name);
  if (found != contexts.contexts.end()) return found->second;
  std::vector<std::string> names;
  for (const auto& [each, context] : contexts.contexts) names.push_back(each);
  const std::string nearest = common::Nearest(name, names);
  return absl::NotFoundError(
      absl::StrCat("there is no context '", Printable(name), "'; ",
                   names.empty() ? "there are none: `rekindle context set NAME --endpoint HOST:PORT` makes one"
                                 : absl::StrCat("there are: ", absl::StrJoin(names, ", ")),
                   nearest.empty() ? "" : absl::StrCat("; did you mean ", nearest, "?")));
}

bool IsContextName(const std::string& name) {
  if (name.empty() || name.size() > kLongestName || name[0] == '-' || name[0] == '.') return false;
  for (const char c : name) {
    if (!std::isalnum(static_cast<unsigned char>(c)) && c != '.' && c != '_' && c != '-') return false;
  }
  return true;
}

}  // namespace rekindle::cli
