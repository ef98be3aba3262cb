#define _GNU_SOURCE
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "State.h"

/// The descriptor of the trace: 0 until it is opened, negative if there is none.
static int trace;

/// High enough that nothing else changes the descriptors which the process gets.
enum { TRACE_DESCRIPTOR = 900 };

static void openTrace(void) {
  const char *path = getenv("CDT_FAULTS_TRACE");
  trace = -1;
  if (!path) return;
  int opened = (int)syscall(SYS_openat, AT_FDCWD, path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
  trace = (int)syscall(SYS_fcntl, opened, F_DUPFD_CLOEXEC, TRACE_DESCRIPTOR);
  syscall(SYS_close, opened);
}

static void append(const void *bytes, size_t length) {
  while (length > 0) {
    long count = syscall(SYS_write, trace, bytes, length);
    if (count <= 0) abort();  // A trace with a gap would be a wrong one.
    bytes = (const char *)bytes + count;
    length -= (size_t)count;
  }
}

void faults_trace(
    enum change change, const char *path, const char *other, uint64_t number, const void *data, size_t length)
{
  if (trace == 0) openTrace();
  if (trace < 0) return;
  // One byte, two lengths of two bytes, the number, and the length of the data; then the paths and the data.
  struct __attribute__((packed)) {
    uint8_t change;
    uint16_t path, other;
    uint64_t number;
    uint32_t length;
  } header = {(uint8_t)change, (uint16_t)strlen(path), (uint16_t)(other ? strlen(other) : 0), number,
      (uint32_t)length};
  append(&header, sizeof header);
  append(path, header.path);
  append(other, header.other);
  append(data, length);
}
