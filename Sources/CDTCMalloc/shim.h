// glibc's settings of memory allocation, which Swift's Glibc module leaves out.
#ifndef CMALLOC_SHIM_H
#define CMALLOC_SHIM_H

#include <malloc.h>

/// Sets how many heaps threads allocate from; see mallopt(3).
static inline void cmalloc_limit_heaps(int count) {
#ifdef M_ARENA_MAX
  mallopt(M_ARENA_MAX, count);
#endif
}

#endif
