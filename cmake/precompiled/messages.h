// The headers that most files include which know the messages of the protocol.
#include "cmake/precompiled/plain.h"
#include "rekindle/v1/job.pb.h"
#include "rekindle/v1/job_file.pb.h"
#include "rekindle/v1/node.pb.h"
#include "rekindle/v1/store.pb.h"
#include "rekindle/v1/trainer.pb.h"
