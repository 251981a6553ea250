#include "token/token.h"
