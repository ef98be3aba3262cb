// What the importer cannot carry over from zlib.h: macros that add the version and the size of the stream.
#ifndef CZLIB_SHIM_H
#define CZLIB_SHIM_H

#include <zlib.h>

/// inflateInit2 for gzip alone.
static inline int czlib_inflate_init_gzip(z_stream *stream) { return inflateInit2(stream, 16 + MAX_WBITS); }

#endif
