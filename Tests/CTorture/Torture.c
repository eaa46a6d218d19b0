// This library lets one call of a program fail: $DLM_TORTURE is "FILE KIND NUMBER", and the call of this kind and number
// fails once, in whatever process makes it. With the number 0 no call fails. The file then has the number of calls of each
// kind, as records of a name and a number.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

static const char *const kinds[] = {
    "open",      "openat", "pwrite", "pwrite-short", "pread",   "fdatasync", "fsync",  "syncfs", "ftruncate",
    "fallocate", "rename", "link",   "unlink",       "stat",    "statx",     "flock",  "mmap",   "socket",
    "connect",   "recv",   "send",   "epoll",        "eventfd", "thread",    "random", "libcurl", "close",
    "write",
};

enum { count_of_kinds = sizeof kinds / sizeof *kinds };

struct record {
    char kind[24];
    _Atomic uint64_t count;
};

static struct record *records;
static uint64_t wanted;
static char kind[24];

__attribute__((constructor)) static void begin(void) {
    const char *text = getenv("DLM_TORTURE");
    char path[4096];
    unsigned long long number;
    if (!text || sscanf(text, "%4095s %23s %llu", path, kind, &number) != 3) return;
    size_t size = count_of_kinds * sizeof *records;
    int fd = (int)syscall(SYS_openat, AT_FDCWD, path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    if (fd < 0 || syscall(SYS_ftruncate, fd, size) != 0) abort();
    void *shared = (void *)syscall(SYS_mmap, NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, (off_t)0);
    syscall(SYS_close, fd);
    if (shared == MAP_FAILED) abort();
    wanted = number;
    records = shared;
    for (int index = 0; index < count_of_kinds; index++) strcpy(records[index].kind, kinds[index]);
}

/// Counts a call. Returns 1, with errno set, if the call must fail.
static int fails(const char *name, int error) {
    if (!records) return 0;
    for (int index = 0; index < count_of_kinds; index++) {
        if (strcmp(kinds[index], name) != 0) continue;
        uint64_t number = atomic_fetch_add(&records[index].count, 1) + 1;
        if (number != wanted || strcmp(kind, name) != 0) return 0;
        errno = error;
        return 1;
    }
    abort();
}

// MARK: Files

static int mode_of(int flags, va_list *list) { return flags & (O_CREAT | O_TMPFILE) ? va_arg(*list, int) : 0; }

int open(const char *path, int flags, ...) {
    va_list list;
    va_start(list, flags);
    int mode = mode_of(flags, &list);
    va_end(list);
    return fails("open", EMFILE) ? -1 : (int)syscall(SYS_openat, AT_FDCWD, path, flags, mode);
}

int open64(const char *path, int flags, ...) __attribute__((alias("open")));

int openat(int folder, const char *path, int flags, ...) {
    va_list list;
    va_start(list, flags);
    int mode = mode_of(flags, &list);
    va_end(list);
    return fails("openat", EMFILE) ? -1 : (int)syscall(SYS_openat, folder, path, flags, mode);
}

int openat64(int folder, const char *path, int flags, ...) __attribute__((alias("openat")));

ssize_t pwrite(int fd, const void *bytes, size_t count, off_t offset) {
    if (fails("pwrite", EIO)) return -1;
    if (count > 1 && fails("pwrite-short", 0)) count /= 2;
    return syscall(SYS_pwrite64, fd, bytes, count, offset);
}

ssize_t pwrite64(int fd, const void *bytes, size_t count, off_t offset) __attribute__((alias("pwrite")));

ssize_t pread(int fd, void *bytes, size_t count, off_t offset) {
    return fails("pread", EIO) ? -1 : syscall(SYS_pread64, fd, bytes, count, offset);
}

ssize_t pread64(int fd, void *bytes, size_t count, off_t offset) __attribute__((alias("pread")));

ssize_t write(int fd, const void *bytes, size_t count) {
    struct stat info;
    int isFile = syscall(SYS_fstat, fd, &info) == 0 && S_ISREG(info.st_mode);
    return isFile && fails("write", EIO) ? -1 : syscall(SYS_write, fd, bytes, count);
}

int fdatasync(int fd) { return fails("fdatasync", EIO) ? -1 : (int)syscall(SYS_fdatasync, fd); }

int fsync(int fd) { return fails("fsync", EIO) ? -1 : (int)syscall(SYS_fsync, fd); }

int syncfs(int fd) { return fails("syncfs", EIO) ? -1 : (int)syscall(SYS_syncfs, fd); }

int ftruncate(int fd, off_t size) { return fails("ftruncate", EIO) ? -1 : (int)syscall(SYS_ftruncate, fd, size); }

int ftruncate64(int fd, off_t size) __attribute__((alias("ftruncate")));

int fallocate(int fd, int mode, off_t offset, off_t size) {
    return fails("fallocate", EIO) ? -1 : (int)syscall(SYS_fallocate, fd, mode, offset, size);
}

int fallocate64(int fd, int mode, off_t offset, off_t size) __attribute__((alias("fallocate")));

int renameat2(int from, const char *name, int to, const char *other, unsigned flags) {
    return fails("rename", EIO) ? -1 : (int)syscall(SYS_renameat2, from, name, to, other, flags);
}

int renameat(int from, const char *name, int to, const char *other) { return renameat2(from, name, to, other, 0); }

int rename(const char *name, const char *other) { return renameat2(AT_FDCWD, name, AT_FDCWD, other, 0); }

int linkat(int from, const char *name, int to, const char *other, int flags) {
    return fails("link", EIO) ? -1 : (int)syscall(SYS_linkat, from, name, to, other, flags);
}

int unlinkat(int folder, const char *name, int flags) {
    return fails("unlink", EIO) ? -1 : (int)syscall(SYS_unlinkat, folder, name, flags);
}

int unlink(const char *path) { return unlinkat(AT_FDCWD, path, 0); }

int fstatat(int folder, const char *restrict path, struct stat *restrict info, int flags) {
    return fails("stat", ENOMEM) ? -1 : (int)syscall(SYS_newfstatat, folder, path, info, flags);
}

int stat(const char *restrict path, struct stat *restrict info) { return fstatat(AT_FDCWD, path, info, 0); }

int lstat(const char *restrict path, struct stat *restrict info) {
    return fstatat(AT_FDCWD, path, info, AT_SYMLINK_NOFOLLOW);
}

int fstat(int fd, struct stat *info) { return fails("stat", ENOMEM) ? -1 : (int)syscall(SYS_fstat, fd, info); }

int stat64(const char *restrict path, struct stat64 *restrict info) { return stat(path, (struct stat *)info); }

int lstat64(const char *restrict path, struct stat64 *restrict info) { return lstat(path, (struct stat *)info); }

int fstat64(int fd, struct stat64 *info) { return fstat(fd, (struct stat *)info); }

int fstatat64(int folder, const char *restrict path, struct stat64 *restrict info, int flags) {
    return fstatat(folder, path, (struct stat *)info, flags);
}

int statx(int folder, const char *restrict path, int flags, unsigned mask, struct statx *restrict info) {
    return fails("statx", ENOMEM) ? -1 : (int)syscall(SYS_statx, folder, path, flags, mask, info);
}

int flock(int fd, int operation) { return fails("flock", ENOLCK) ? -1 : (int)syscall(SYS_flock, fd, operation); }

int close(int fd) {
    int result = (int)syscall(SYS_close, fd);
    // Linux closes the descriptor even if it reports an error (close(2)).
    return fails("close", EIO) ? -1 : result;
}

void *mmap(void *place, size_t size, int protection, int flags, int fd, off_t offset) {
    if (fd >= 0 && fails("mmap", ENOMEM)) return MAP_FAILED;
    return (void *)syscall(SYS_mmap, place, size, protection, flags, fd, offset);
}

void *mmap64(void *place, size_t size, int protection, int flags, int fd, off_t offset)
    __attribute__((alias("mmap")));

// MARK: The network

int socket(int family, int type, int protocol) {
    return fails("socket", EMFILE) ? -1 : (int)syscall(SYS_socket, family, type, protocol);
}

int connect(int fd, const struct sockaddr *address, socklen_t size) {
    return fails("connect", ECONNREFUSED) ? -1 : (int)syscall(SYS_connect, fd, address, size);
}

ssize_t recv(int fd, void *bytes, size_t count, int flags) {
    return fails("recv", ECONNRESET) ? -1 : syscall(SYS_recvfrom, fd, bytes, count, flags, NULL, NULL);
}

ssize_t send(int fd, const void *bytes, size_t count, int flags) {
    return fails("send", EPIPE) ? -1 : syscall(SYS_sendto, fd, bytes, count, flags, NULL, (size_t)0);
}

int epoll_wait(int epoll, struct epoll_event *events, int most_events, int timeout) {
    if (fails("epoll", EINTR)) return -1;
    return (int)syscall(SYS_epoll_pwait, epoll, events, most_events, timeout, NULL, (size_t)8);
}

int eventfd(unsigned count, int flags) {
    return fails("eventfd", EMFILE) ? -1 : (int)syscall(SYS_eventfd2, count, flags);
}

// MARK: Threads and memory

typedef void *lookup(void *, const char *);

static lookup *real_lookup(void) {
    static lookup *real;
    if (!real) real = (lookup *)dlvsym(RTLD_NEXT, "dlsym", "GLIBC_2.34");
    if (!real) abort();
    return real;
}


int pthread_create(
    pthread_t *restrict thread, const pthread_attr_t *restrict attributes, void *(*start)(void *),
    void *restrict argument) {
    static typeof(&pthread_create) real;
    if (!real) real = (typeof(&pthread_create))real_lookup()(RTLD_NEXT, "pthread_create");
    return fails("thread", EAGAIN) ? EAGAIN : real(thread, attributes, start, argument);
}

ssize_t getrandom(void *bytes, size_t count, unsigned flags) {
    return fails("random", EAGAIN) ? -1 : syscall(SYS_getrandom, bytes, count, flags);
}

static void *allocate(size_t size) { return fails("libcurl", ENOMEM) ? NULL : malloc(size); }
static void *reallocate(void *old, size_t size) { return fails("libcurl", ENOMEM) ? NULL : realloc(old, size); }
static char *duplicate(const char *text) { return fails("libcurl", ENOMEM) ? NULL : strdup(text); }
static void *allocate_zeros(size_t count, size_t size) { return fails("libcurl", ENOMEM) ? NULL : calloc(count, size); }

/// Initialises libcurl with an allocator that can fail (curl_global_init_mem(3)).
static int initialize(long flags) {
    typedef int init(
        long, void *(*)(size_t), void (*)(void *), void *(*)(void *, size_t), char *(*)(const char *),
        void *(*)(size_t, size_t));
    init *real = (init *)real_lookup()(dlopen("libcurl.so.4", RTLD_NOW | RTLD_NOLOAD), "curl_global_init_mem");
    return real(flags, allocate, free, reallocate, duplicate, allocate_zeros);
}

/// dlm loads libcurl with dlopen(3), so its functions are replaced where they are looked up.
void *dlsym(void *restrict library, const char *restrict name) {
    if (records && strcmp(name, "curl_global_init") == 0) return (void *)initialize;
    return real_lookup()(library, name);
}
