/**
 * Short forms for the rows of a table of keys. Who includes it defines
 * AT(field), the offset of a field in its struct of options.
 */
#ifndef BASE_CONFIG_TABLE_H
#define BASE_CONFIG_TABLE_H

#include "base/config.h"

#define TEXT(name, field, def, text)                                    \
	{                                                               \
		(name), CONFIG_STRING, AT(field), (def), .help = (text) \
	}
#define NEEDED(name, field, def, text)                           \
	{                                                        \
		(name), CONFIG_STRING, AT(field), (def),         \
			.flags = CONFIG_REQUIRED, .help = (text) \
	}
#define SECRET(name, field, text)                                             \
	{                                                                     \
		(name), CONFIG_STRING, AT(field), "", .flags = CONFIG_SECRET, \
						      .help = (text)          \
	}
#define NUMBER(name, field, def, low, high, text)                   \
	{                                                           \
		(name), CONFIG_INT, AT(field), (def),               \
			.min = (low), .max = (high), .help = (text) \
	}
#define SPAN(name, field, def, low, high, text)                     \
	{                                                           \
		(name), CONFIG_TIME, AT(field), (def),              \
			.min = (low), .max = (high), .help = (text) \
	}

#endif
