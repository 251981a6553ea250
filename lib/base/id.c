#include "base/id.h"

static const bool id_chars[UINT8_MAX + 1] = {
	['-'] = true, ['.'] = true, [':'] = true, ['@'] = true, ['_'] = true,
	['0'] = true, ['1'] = true, ['2'] = true, ['3'] = true, ['4'] = true,
	['5'] = true, ['6'] = true, ['7'] = true, ['8'] = true, ['9'] = true,
	['A'] = true, ['B'] = true, ['C'] = true, ['D'] = true, ['E'] = true,
	['F'] = true, ['G'] = true, ['H'] = true, ['I'] = true, ['J'] = true,
	['K'] = true, ['L'] = true, ['M'] = true, ['N'] = true, ['O'] = true,
	['P'] = true, ['Q'] = true, ['R'] = true, ['S'] = true, ['T'] = true,
	['U'] = true, ['V'] = true, ['W'] = true, ['X'] = true, ['Y'] = true,
	['Z'] = true, ['a'] = true, ['b'] = true, ['c'] = true, ['d'] = true,
	['e'] = true, ['f'] = true, ['g'] = true, ['h'] = true, ['i'] = true,
	['j'] = true, ['k'] = true, ['l'] = true, ['m'] = true, ['n'] = true,
	['o'] = true, ['p'] = true, ['q'] = true, ['r'] = true, ['s'] = true,
	['t'] = true, ['u'] = true, ['v'] = true, ['w'] = true, ['x'] = true,
	['y'] = true, ['z'] = true,
};

bool id_valid(struct bytes id)
{
	if (id.n < 1 || id.n > ID_MAX) {
		return false;
	}
	for (size_t i = 0; i < id.n; i++) {
		if (!id_chars[id.p[i]]) {
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
