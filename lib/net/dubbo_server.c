#include "net/dubbo_server.h"
