// What the thread sanitizer has to be told of Synchronization's Mutex. Taking a mutex that is free is compiled into our own
// code, where the sanitizer sees it; waiting for one happens in Swift's library, where it does not, and reports what the
// mutex guards as races. These functions take the place of the library's two and call them.
//
// scripts/sanitize.sh links this file into the build for the thread sanitizer, and into no other.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdint.h>

#define METHOD __attribute__((swiftcall))
#define SELF __attribute__((swift_context)) void *self
#define LOCK "$s15Synchronization12_MutexHandleV9_lockSlowyys6UInt32VF"
#define UNLOCK "$s15Synchronization12_MutexHandleV11_unlockSlowyyF"

void __tsan_acquire(void *address);
void __tsan_release(void *address);
METHOD void lock(uint32_t thread, SELF) __asm__(LOCK);
METHOD void unlock(SELF) __asm__(UNLOCK);

METHOD void lock(uint32_t thread, SELF) {
  METHOD void (*next)(uint32_t, SELF) = dlsym(RTLD_NEXT, LOCK);
  next(thread, self);
  __tsan_acquire(self);
}

METHOD void unlock(SELF) {
  METHOD void (*next)(SELF) = dlsym(RTLD_NEXT, UNLOCK);
  __tsan_release(self);
  next(self);
}
