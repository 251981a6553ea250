#include "net/stream.h"
