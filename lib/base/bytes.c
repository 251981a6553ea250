#include "base/bytes.h"
