// PCRE2 with 8-bit code units; the functions carry the suffix _8 in Swift.
#ifndef CPCRE2_SHIM_H
#define CPCRE2_SHIM_H

#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>

#endif
