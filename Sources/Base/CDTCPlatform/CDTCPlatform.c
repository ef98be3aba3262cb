#define _GNU_SOURCE
#include "CDTCPlatform.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#ifdef __linux__
#include <sys/syscall.h>
#endif
#include <sys/time.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#ifdef __GLIBC__
#include <malloc.h>
#endif

static int64_t nanoseconds(struct timespec time) { return (int64_t)time.tv_sec * 1000000000 + time.tv_nsec; }

static int32_t fill(int result, const struct stat *found, struct cdt_status *status) {
  if (result != 0) return errno;
  status->device = (uint64_t)found->st_dev;
  status->inode = (uint64_t)found->st_ino;
  status->size = (int64_t)found->st_size;
  status->links = (uint64_t)found->st_nlink;
  status->permissions = (uint32_t)(found->st_mode & 0777);
  status->owner = (uint32_t)found->st_uid;
  status->kind = S_ISREG(found->st_mode)   ? cdt_kind_file
                 : S_ISDIR(found->st_mode) ? cdt_kind_directory
                 : S_ISLNK(found->st_mode) ? cdt_kind_link
                                           : cdt_kind_other;
#ifdef __APPLE__
  status->modified = nanoseconds(found->st_mtimespec);
  status->changed = nanoseconds(found->st_ctimespec);
#else
  status->modified = nanoseconds(found->st_mtim);
  status->changed = nanoseconds(found->st_ctim);
#endif
  return 0;
}

int32_t cdt_status_of_path(const char *path, bool follows_links, struct cdt_status *status) {
  struct stat found;
  return fill(follows_links ? stat(path, &found) : lstat(path, &found), &found, status);
}

int32_t cdt_status_of_file(int32_t file, struct cdt_status *status) {
  struct stat found;
  return fill(fstat(file, &found), &found, status);
}

int32_t cdt_free_bytes(const char *path, uint64_t *bytes) {
  struct statvfs found;
  if (statvfs(path, &found) != 0) return errno;
  uint64_t blocks = (uint64_t)found.f_bavail, size = (uint64_t)(found.f_frsize ? found.f_frsize : found.f_bsize);
  *bytes = size != 0 && blocks > UINT64_MAX / size ? UINT64_MAX : blocks * size;
  return 0;
}

int32_t cdt_open(const char *path, int32_t flags, uint32_t permissions) {
  int file = open(path, flags | O_CLOEXEC, (mode_t)permissions);
  return file < 0 ? -errno : file;
}

int32_t cdt_make_pipe(int32_t ends[2]) {
#ifdef __APPLE__
  if (pipe(ends) != 0) return errno;
  for (int end = 0; end < 2; end += 1) {
    fcntl(ends[end], F_SETFD, FD_CLOEXEC);
    fcntl(ends[end], F_SETFL, O_NONBLOCK);
  }
  return 0;
#else
  return pipe2(ends, O_NONBLOCK | O_CLOEXEC) == 0 ? 0 : errno;
#endif
}

int32_t cdt_name_file(const char *path) {
#ifdef O_PATH
  return cdt_open(path, O_PATH, 0);
#else
  (void)path;
  return -ENOTSUP;
#endif
}

void cdt_close(int32_t file) {
  if (file >= 0) close(file);
}

int32_t cdt_exchange(const char *path, const char *other) {
#ifdef __APPLE__
  return renamex_np(path, other, RENAME_SWAP) == 0 ? 0 : errno;
#else
  // renameat2 has no function in every C library. 2 is RENAME_EXCHANGE.
  return syscall(SYS_renameat2, AT_FDCWD, path, AT_FDCWD, other, 2) == 0 ? 0 : errno;
#endif
}

int32_t cdt_make_file(const char *path) {
#ifdef __APPLE__
  // mknod needs the superuser. With O_EXCL, a file that exists is not opened, so closing it releases no locks of others.
  int file = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
  if (file < 0) return errno;
  return close(file) == 0 ? 0 : errno;
#else
  return mknod(path, S_IFREG | 0600, 0) == 0 ? 0 : errno;
#endif
}

int32_t cdt_synchronize(int32_t file) {
#ifdef __APPLE__
  // fsync leaves the content in the drive's cache. Some file systems have no F_FULLFSYNC.
  if (fcntl(file, F_FULLFSYNC) == 0) return 0;
#endif
  return fsync(file) == 0 ? 0 : errno;
}

int32_t cdt_start_thread(void *(*body)(void *), void *argument) {
  // Signals belong to the application; a thread inherits the signal mask of its creator.
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  pthread_t thread;
  int result = pthread_create(&thread, NULL, body, argument);
  if (result == 0) pthread_detach(thread);
  pthread_sigmask(SIG_SETMASK, &before, NULL);
  return result;
}

uint64_t cdt_thread_number(void) { return (uint64_t)(uintptr_t)pthread_self(); }

int64_t cdt_thread_processor_time(void) {
  struct timespec time = {0, 0};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return nanoseconds(time);
}

int64_t cdt_coarse_time(void) {
#ifdef __APPLE__
  return (int64_t)clock_gettime_nsec_np(CLOCK_MONOTONIC_RAW_APPROX);
#else
  struct timespec time = {0, 0};
  clock_gettime(CLOCK_MONOTONIC_COARSE, &time);
  return nanoseconds(time);
#endif
}

int64_t cdt_monotonic_nanoseconds(void) {
  struct timespec time = {0, 0};
  clock_gettime(CLOCK_MONOTONIC, &time);
  return nanoseconds(time);
}

int32_t cdt_processors(void) {
  long count = sysconf(_SC_NPROCESSORS_ONLN);
  return count < 1 ? 1 : count > INT32_MAX ? INT32_MAX : (int32_t)count;
}

void cdt_descriptor_limits(uint64_t *now, uint64_t *most) {
  struct rlimit limit;
  *now = *most = 0;
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0) return;
  *now = (uint64_t)limit.rlim_cur;
  *most = (uint64_t)limit.rlim_max;
#ifdef __APPLE__
  // setrlimit(2): a higher limit is refused.
  if (*most > OPEN_MAX) *most = OPEN_MAX;
#endif
}

int32_t cdt_set_descriptor_limit(uint64_t limit) {
  struct rlimit known;
  if (getrlimit(RLIMIT_NOFILE, &known) != 0) return errno;
  known.rlim_cur = (rlim_t)limit;
  return setrlimit(RLIMIT_NOFILE, &known) == 0 ? 0 : errno;
}

void cdt_ignore_signals_of_writes(void) {
  signal(SIGPIPE, SIG_IGN);
  signal(SIGXFSZ, SIG_IGN);
}

int64_t cdt_unsent_bytes(int32_t socket) {
  int count = 0;
#ifdef __APPLE__
  socklen_t size = sizeof count;
  return getsockopt(socket, SOL_SOCKET, SO_NWRITE, &count, &size) == 0 ? count : -1;
#else
  // tcp(7): SIOCOUTQ, whose other name is TIOCOUTQ.
  return ioctl(socket, TIOCOUTQ, &count) == 0 ? count : -1;
#endif
}

int32_t cdt_send_datagram(const char *path, const char *message) {
  struct sockaddr_un address;
  size_t length = strlen(path);
  memset(&address, 0, sizeof address);
  address.sun_family = AF_UNIX;
  if (length == 0) return EINVAL;
  if (length >= sizeof address.sun_path) return ENAMETOOLONG;
  memcpy(address.sun_path, path, length);
  // unix(7): the length of an abstract address does not include a NUL at its end.
  if (path[0] == '@') address.sun_path[0] = 0;
  socklen_t size = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + length + (path[0] == '@' ? 0 : 1));
  int file = socket(AF_UNIX, SOCK_DGRAM, 0);
  if (file < 0) return errno;
  fcntl(file, F_SETFD, FD_CLOEXEC);
  struct timeval second = {1, 0};
  setsockopt(file, SOL_SOCKET, SO_SNDTIMEO, &second, sizeof second);
  int32_t result = sendto(file, message, strlen(message), 0, (struct sockaddr *)&address, size) < 0 ? errno : 0;
  close(file);
  return result;
}

int32_t cdt_launch(const char *program, const char *argument) {
  extern char **environ;
  posix_spawn_file_actions_t files;
  posix_spawnattr_t attributes;
  int result = posix_spawn_file_actions_init(&files);
  if (result != 0) return result;
  result = posix_spawnattr_init(&attributes);
  if (result != 0) {
    posix_spawn_file_actions_destroy(&files);
    return result;
  }
  for (int file = 0; file < 3 && result == 0; file++)
    result = posix_spawn_file_actions_addopen(&files, file, "/dev/null", file == 0 ? O_RDONLY : O_WRONLY, 0);
  // So that an interrupt at the terminal does not end it.
  if (result == 0) result = posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP);
  if (result == 0) result = posix_spawnattr_setpgroup(&attributes, 0);
  char *const arguments[] = {(char *)program, (char *)argument, NULL};
  pid_t process;
  if (result == 0) result = posix_spawnp(&process, program, &files, &attributes, arguments, environ);
  posix_spawnattr_destroy(&attributes);
  posix_spawn_file_actions_destroy(&files);
  return result;
}

static int32_t argument_count;
static char **argument_values;

#ifdef __GLIBC__
__attribute__((constructor)) static void keep_arguments(int count, char **values) {
  argument_count = count;
  argument_values = values;
}
#endif

char **cdt_arguments(int32_t *count) {
  *count = argument_count;
  return argument_values;
}

void cdt_limit_heaps(int32_t count) {
#ifdef M_ARENA_MAX
  mallopt(M_ARENA_MAX, count);
#else
  (void)count;
#endif
}

int32_t cdt_terminal_columns(int32_t file) {
  struct winsize size;
  return ioctl(file, TIOCGWINSZ, &size) == 0 ? size.ws_col : 0;
}
