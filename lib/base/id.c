#include "base/id.h"
