#include "client/dubbo_client.h"
