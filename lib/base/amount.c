#include "base/amount.h"
