// Sets how many descriptors this process may have open, and who may use them.
#ifndef REKINDLE_COMMON_NET_DESCRIPTORS_H_
#define REKINDLE_COMMON_NET_DESCRIPTORS_H_

namespace rekindle::common {

// Raises the soft limit of open descriptors to the hard limit, because a daemon has many connections, but shells allow
// only 1,024 descriptors. If that fails, it logs a warning. It must be called at the start of main, after the log is
// initialized, and only in programs that do not use select().
void RaiseDescriptorLimit();

// Returns the limit below which connections from outside get descriptors. Descriptors above it are kept for files and
// for this process's own connections, so that it can still write its state when it has too many clients. The kernel
// assigns the lowest free descriptors first.
int DescriptorsOfClients();

}  // namespace rekindle::common

#endif  // REKINDLE_COMMON_NET_DESCRIPTORS_H_
