#include "base/rand.h"
