#include "proto/proto_util.h"
