// Starts rekindle-checkpoint, the checkpoint service of a node.
#include "checkpoint/service/service_main.h"
#include "common/agreed/release.h"
#include "common/files/file.h"

int main(int argc, char** argv) {
  const auto as_they_are = [](rekindle::common::FileSystem& files) -> rekindle::common::FileSystem& { return files; };
  return rekindle::checkpoint::ServiceMain(argc, argv, rekindle::common::VersionLine("rekindle-checkpoint"),
                                           as_they_are);
}
