#include "base/metrics.h"
