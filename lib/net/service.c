#include "net/service.h"
