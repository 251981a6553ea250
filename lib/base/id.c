#include "base/id.h"

static bool id_char(uint8_t c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
	       (c >= '0' && c <= '9') || c == '_' || c == '.' || c == ':' ||
	       c == '@' || c == '-';
}

bool id_valid(struct bytes id)
{
	if (id.n < 1 || id.n > ID_MAX) {
		return false;
	}
	for (size_t i = 0; i < id.n; i++) {
		if (!id_char(id.p[i])) {
			return false;
		}
	}
	return true;
}

bool id_valid_claimant(struct bytes id)
{
	uint64_t seq;

	if (id.n > 1 && id.n <= ID_MAX && id.p[0] == '#') {
		return bytes_to_u64(bytes_make(id.p + 1, id.n - 1), UINT64_MAX,
				    &seq);
	}
	return id_valid(id);
}
