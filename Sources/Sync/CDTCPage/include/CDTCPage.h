#ifndef CDTCPAGE_H
#define CDTCPAGE_H

#include <stddef.h>

/// A file of the page for browsers, Sources/Sync/CDTServer/Page, as it was when the program was compiled.
struct cdt_page_file {
  const char *name;
  const unsigned char *bytes;
  size_t length;
};

size_t cdt_page_file_count(void);

/// The file at a position below the count.
struct cdt_page_file cdt_page_file(size_t position);

#endif
