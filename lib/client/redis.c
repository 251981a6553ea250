#include "client/redis.h"
