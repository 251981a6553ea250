/* A key behind a pass phrase: nobody sits at a service to be asked for it. */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <criterion/criterion.h>

#include "token/token_keys.h"

static const char locked[] =
	"-----BEGIN EC PRIVATE KEY-----\nProc-Type: 4,ENCRYPTED\n"
	"DEK-Info: AES-128-CBC,00112233445566778899AABBCCDDEEFF\n"
	"\nAAAA\n-----END EC PRIVATE KEY-----\n";

static void write_file(const char *name, const char *text)
{
	FILE *f = fopen(name, "w");

	cr_assert(f != NULL);
	cr_assert(fputs(text, f) >= 0);
	cr_assert_eq(fclose(f), 0);
}

/* At a reload all connections would wait for the answer. */
Test(token_locked, is_refused_without_asking, .timeout = 10)
{
	char dir[] = "/tmp/rain-locked-XXXXXX";
	struct token_keys *keys;
	struct buf why;
	int ends[2];

	cr_assert(mkdtemp(dir) != NULL && chdir(dir) == 0);
	write_file("pem", locked);
	write_file("keys", "a ES256 user pem\n");
	/* Without a terminal OpenSSL reads standard input, and this pipe never
	 * says anything. */
	(void)setsid();
	cr_assert(pipe(ends) == 0 && dup2(ends[0], STDIN_FILENO) >= 0);
	buf_init(&why);
	keys = token_keys_load("keys", &why);
	cr_assert(keys == NULL);
	buf_put_u8(&why, 0);
	cr_assert(strstr((const char *)buf_live(&why).p, "pass phrase") !=
		  NULL);
	buf_close(&why);
	(void)unlink("pem");
	(void)unlink("keys");
	(void)rmdir(dir);
}
