#include "proto/frame.h"
