// Calls what the C target has, so that linking it finds every function that a system lacks.
#include <fcntl.h>
#include <stdio.h>

#include "CDTCPlatform.h"

static void *body(void *argument) { return argument; }

int main(int count, char **arguments) {
  cdt_arguments(&count);
  struct cdt_status status;
  uint64_t now, most, free;
  int32_t ends[2] = {-1, -1};
  int32_t file = cdt_open(arguments[0], O_RDONLY, 0);
  cdt_descriptor_limits(&now, &most);
  cdt_ignore_signals_of_writes();
  cdt_limit_heaps(cdt_processors());
  int32_t failures = (cdt_make_pipe(ends) != 0) + (file < 0) + (cdt_status_of_file(file, &status) != 0) + (status.kind != cdt_kind_file)
    + (cdt_status_of_path("/", true, &status) != 0) + (status.kind != cdt_kind_directory) + (cdt_synchronize(file) != 0)
    + (cdt_start_thread(body, NULL) != 0) + (cdt_thread_number() == 0) + (cdt_thread_processor_time() < 0)
    + (cdt_monotonic_nanoseconds() <= 0)
    + (cdt_set_descriptor_limit(now) != 0) + (cdt_unsent_bytes(file) >= 0)
    + (cdt_make_file(arguments[0]) == 0) + (cdt_free_bytes("/", &free) != 0)
    + (cdt_send_datagram("/nowhere", "READY=1") == 0);
  printf("%d failures\n", failures);
  return failures;
}
