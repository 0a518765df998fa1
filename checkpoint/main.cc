// rekindle-checkpoint: the checkpoint service of a node.
#include "checkpoint/service_main.h"
#include "common/file.h"

int main(int argc, char** argv) {
  return rekindle::checkpoint::ServiceMain(argc, argv, *rekindle::common::PosixFileSystem());
}
