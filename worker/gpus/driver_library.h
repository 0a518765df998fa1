// Opens a library of the NVIDIA driver and finds its functions.
#ifndef REKINDLE_WORKER_GPUS_DRIVER_LIBRARY_H_
#define REKINDLE_WORKER_GPUS_DRIVER_LIBRARY_H_

#include <string>
#include <type_traits>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace rekindle::gpus {

// The library stays open until the process ends, because drivers cannot be unloaded cleanly. The class is
// thread-compatible.
class DriverLibrary {
 public:
  // Returns NOT_FOUND if there is no library of this name, which means that the machine has no driver, and
  // FAILED_PRECONDITION if there is one that cannot be loaded.
  static absl::StatusOr<DriverLibrary> Open(const char* name);

  // Sets `*function` to the function of this name, or to null if the library lacks it.
  template <typename Function>
  void FindIfThere(const char* name, Function* function) {
    *function = reinterpret_cast<Function>(Address(name));
  }
  // Sets `*function` to the function of this name. Without it the library is of no use, and Check() tells so.
  template <typename Function>
  void Find(const char* name, Function* function) {
    FindIfThere(name, function);
    if (*function == nullptr && lacks_.empty()) lacks_ = name;
  }
  // Returns FAILED_PRECONDITION if a function that Find() was asked for is missing.
  absl::Status Check() const;

 private:
  DriverLibrary(const char* name, void* handle) : name_(name), handle_(handle) {}
  void* Address(const char* name) const;

  std::string name_;
  void* handle_;
  // `lacks_` is the name of the first function that Find() did not find.
  std::string lacks_;
};

}  // namespace rekindle::gpus

#endif  // REKINDLE_WORKER_GPUS_DRIVER_LIBRARY_H_
