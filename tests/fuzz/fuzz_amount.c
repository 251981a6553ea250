/* amount_parse() against a reading that goes digit by digit. */
#include "base/amount.h"
#include "fuzz/fuzz.h"

static bool is_digit(uint8_t c)
{
	return c >= '0' && c <= '9';
}

/* v * 10 + digit, staying just above the limit once it is passed. */
static int64_t append(int64_t v, uint8_t digit)
{
	int64_t next = v * 10 + (digit - '0');

	return next > AMOUNT_MAX_CENTS ? AMOUNT_MAX_CENTS + 1 : next;
}

/* Digits; then nothing, or a dot and one or two digits. -1 for anything else
 * and for what is above the limit. */
static int64_t read_slowly(struct bytes text)
{
	int64_t cents = 0;
	size_t decimals = 0;
	size_t i = 0;

	while (i < text.n && is_digit(text.p[i])) {
		cents = append(cents, text.p[i++]);
	}
	if (i == 0) {
		return -1;
	}
	if (i < text.n) {
		if (text.p[i++] != '.' || i == text.n) {
			return -1;
		}
		for (; i < text.n && is_digit(text.p[i]); decimals++) {
			cents = append(cents, text.p[i++]);
		}
	}
	if (i < text.n || decimals > 2) {
		return -1;
	}
	for (; decimals < 2; decimals++) {
		cents = append(cents, '0');
	}
	return cents > AMOUNT_MAX_CENTS ? -1 : cents;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct bytes text = fuzz_copy(bytes_make(data, size));
	int64_t slowly = read_slowly(text);
	char written[AMOUNT_TEXT_MAX];
	int64_t cents = -2;
	int64_t again;
	size_t n;

	if (amount_parse(text, &cents)) {
		check(cents == slowly);
		n = amount_format(cents, written);
		check(n == strlen(written));
		check(amount_parse(bytes_make(written, n), &again));
		check(again == cents);
	} else {
		check(slowly == -1);
		check(cents == -2); /* untouched */
	}
	fuzz_drop(text);
	return 0;
}
