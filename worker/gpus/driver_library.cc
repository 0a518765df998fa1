#include "worker/gpus/driver_library.h"

#include <dlfcn.h>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"

namespace rekindle::gpus {

absl::StatusOr<DriverLibrary> DriverLibrary::Open(const char* name) {
  void* handle = dlopen(name, RTLD_NOW | RTLD_LOCAL);
  if (handle != nullptr) return DriverLibrary(name, handle);
  const std::string why = dlerror();
  // The message of glibc for a missing file names the library that was asked for. A library of the driver that lacks
  // one of its own libraries gives the name of that one.
  const bool is_missing = absl::StartsWith(why, absl::StrCat(name, ": cannot open shared object file"));
  if (is_missing) return absl::NotFoundError(absl::StrCat("this machine has no NVIDIA driver: ", name, " is missing"));
  return absl::FailedPreconditionError(absl::StrCat("the NVIDIA driver cannot be loaded: ", why));
}

absl::Status DriverLibrary::Check() const {
  if (lacks_.empty()) return absl::OkStatus();
  return absl::FailedPreconditionError(
      absl::StrCat("the NVIDIA driver is too old: ", name_, " has no function ", lacks_, "; install a current driver"));
}

void* DriverLibrary::Address(const char* name) const { return dlsym(handle_, name); }

}  // namespace rekindle::gpus
