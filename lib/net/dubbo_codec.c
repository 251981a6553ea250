#include "net/dubbo_codec.h"
