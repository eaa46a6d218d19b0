#if defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdbool.h>
#include <stdint.h>

// For `make sanitize` only. Swift's standard library is not built for ThreadSanitizer. ThreadSanitizer sees the
// atomic operations of a Mutex, which are inlined, but not the waiting in the kernel when two threads want the same
// Mutex. The functions below replace the three standard library calls for that case. They call the original
// functions, and report each lock and unlock to ThreadSanitizer.

void __tsan_acquire(void *address);
void __tsan_release(void *address);

#define LOCK "$s15Synchronization12_MutexHandleV9_lockSlowyys6UInt32VF"
#define UNLOCK "$s15Synchronization12_MutexHandleV11_unlockSlowyyF"
#define TRY_LOCK "$s15Synchronization12_MutexHandleV12_tryLockSlowSbyF"
#define SWIFT __attribute__((swiftcall))
#define SELF __attribute__((swift_context)) void *self

SWIFT static void (*lock)(uint32_t thread, SELF);
SWIFT static void (*unlock)(SELF);
SWIFT static bool (*try_lock)(SELF);

__attribute__((constructor)) static void find_calls(void) {
    lock = (SWIFT void (*)(uint32_t, SELF))dlsym(RTLD_NEXT, LOCK);
    unlock = (SWIFT void (*)(SELF))dlsym(RTLD_NEXT, UNLOCK);
    try_lock = (SWIFT bool (*)(SELF))dlsym(RTLD_NEXT, TRY_LOCK);
}

SWIFT void dlm_tsan_lock(uint32_t thread, SELF) __asm__(LOCK);
SWIFT void dlm_tsan_unlock(SELF) __asm__(UNLOCK);
SWIFT bool dlm_tsan_try_lock(SELF) __asm__(TRY_LOCK);

SWIFT void dlm_tsan_lock(uint32_t thread, SELF) {
    lock(thread, self);
    __tsan_acquire(self);
}

SWIFT void dlm_tsan_unlock(SELF) {
    __tsan_release(self);
    unlock(self);
}

SWIFT bool dlm_tsan_try_lock(SELF) {
    bool locked = try_lock(self);
    if (locked) __tsan_acquire(self);
    return locked;
}
#endif
#endif
