#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

static long ahead(void) {
    const char *path = getenv("DLM_TEST_CLOCK");
    int kept = errno, fd = path ? open(path, O_RDONLY | O_CLOEXEC) : -1;
    char text[32] = "0";
    if (fd >= 0) {
        if (read(fd, text, sizeof text - 1) < 0) text[0] = '0';
        close(fd);
    }
    errno = kept;
    return atol(text);
}

int clock_gettime(clockid_t clock, struct timespec *now) {
    int result = (int)syscall(SYS_clock_gettime, clock, now);
    if (result == 0 && (clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE)) now->tv_sec += ahead();
    return result;
}

int gettimeofday(struct timeval *restrict now, void *restrict zone) {
    struct timespec time;
    (void)zone;
    if (clock_gettime(CLOCK_REALTIME, &time) != 0) return -1;
    now->tv_sec = time.tv_sec;
    now->tv_usec = time.tv_nsec / 1000;
    return 0;
}

time_t time(time_t *result) {
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    if (result) *result = now.tv_sec;
    return now.tv_sec;
}

static int is_partial(int fd) {
    char link[64], path[4096];
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    ssize_t length = readlink(link, path, sizeof path - 1);
    if (length < 5) return 0;
    path[length] = 0;
    return strcmp(path + length - 5, ".part") == 0 || strcmp(path, "/memfd:dlm (deleted)") == 0;
}

static int meets_quota(int fd, size_t count, off_t offset) {
    const char *quota = getenv("DLM_TEST_QUOTA");
    if (!quota || offset + (off_t)count <= atoll(quota) || !is_partial(fd)) return 0;
    errno = EDQUOT;
    return 1;
}

ssize_t pwrite(int fd, const void *bytes, size_t count, off_t offset) {
    return meets_quota(fd, count, offset) ? -1 : syscall(SYS_pwrite64, fd, bytes, count, offset);
}

ssize_t pwrite64(int fd, const void *bytes, size_t count, off_t offset) {
    return pwrite(fd, bytes, count, offset);
}
