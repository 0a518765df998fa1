// How many descriptors this process may have open, and who gets them.
#ifndef REKINDLE_COMMON_DESCRIPTORS_H_
#define REKINDLE_COMMON_DESCRIPTORS_H_

namespace rekindle::common {

// Raises the soft limit to the hard one: a daemon's connections are many, and shells give 1,024. Where that fails a
// warning is logged. At the start of main, after the log's, and not where anything uses select().
void RaiseDescriptorLimit();

// Connections from outside get descriptors below this one. Those above are for files and for connections of our own, so
// that a process with too many clients still writes its state. The kernel gives out the lowest ones first.
int DescriptorsOfClients();

}  // namespace rekindle::common

#endif  // REKINDLE_COMMON_DESCRIPTORS_H_
