#include "client/kafka.h"
