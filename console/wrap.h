/**
 * Text in lines of a width, for a terminal or a picture.
 */
#ifndef CONSOLE_WRAP_H
#define CONSOLE_WRAP_H

#include "base/bytes.h"

/** Cut the next line of at most columns (2 or more) from rest, which is UTF-8:
 * at a blank, which is dropped, or in a word that is longer. Characters of
 * three bytes and more count as two columns, as the wide ones of them take.
 * Empty when rest is. */
struct bytes wrap_line(struct bytes *rest, size_t columns);

#endif
