#include <criterion/criterion.h>

#include "base/id.h"

Test(id, every_byte_is_in_the_alphabet_or_not)
{
	static const char alphabet[] = "abcdefghijklmnopqrstuvwxyz"
				       "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
				       "0123456789_.:@-";

	for (int c = 0; c < 256; c++) {
		uint8_t byte = (uint8_t)c;
		bool good = memchr(alphabet, c, sizeof(alphabet) - 1) != NULL;

		cr_assert_eq(id_valid(bytes_make(&byte, 1)), good, "byte %d",
			     c);
	}
}

Test(id, has_one_to_64_characters)
{
	char text[ID_MAX + 1];

	(void)memset(text, 'a', sizeof(text));
	cr_assert(!id_valid(bytes_make(text, 0)));
	cr_assert(id_valid(bytes_make(text, 1)));
	cr_assert(id_valid(bytes_make(text, ID_MAX)));
	cr_assert(!id_valid(bytes_make(text, ID_MAX + 1)));
	cr_assert(!id_valid(BYTES("a\0b")));
}

Test(id, a_void_claim_is_no_user)
{
	cr_assert(id_valid_claimant(BYTES("#17")));
	cr_assert(!id_valid(BYTES("#17")));
	cr_assert(id_valid_claimant(BYTES("265628617882842248")));
	cr_assert(!id_valid_claimant(BYTES("#")));
	cr_assert(!id_valid_claimant(BYTES("#1a")));
	cr_assert(!id_valid_claimant(BYTES("a#1")));
	cr_assert(!id_valid_claimant(BYTES("")));
}
