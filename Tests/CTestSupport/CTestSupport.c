#define _GNU_SOURCE
#include "CTestSupport.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <unistd.h>

static int prepare(posix_spawn_file_actions_t *actions, const struct dlmtest_launch *launch) {
    int error = 0;
    int output = launch->descriptors[1];
    if (output >= 0) error = posix_spawn_file_actions_adddup2(actions, output, 1);
    if (launch->terminal) {
        // The first terminal that the leader of a new session opens becomes its controlling terminal.
        if (!error) error = posix_spawn_file_actions_addopen(actions, 0, launch->terminal, O_RDWR, 0);
        if (!error) error = posix_spawn_file_actions_adddup2(actions, 0, 2);
        if (!error && output < 0) error = posix_spawn_file_actions_adddup2(actions, 0, 1);
    } else {
        if (!error) error = posix_spawn_file_actions_adddup2(actions, launch->descriptors[0], 0);
        if (!error) error = posix_spawn_file_actions_adddup2(actions, launch->descriptors[2], 2);
    }
    int first = 3;
    if (launch->passed >= 0) {
        if (!error) error = posix_spawn_file_actions_adddup2(actions, launch->passed, first);
        first++;
    }
    if (!error) error = posix_spawn_file_actions_addclosefrom_np(actions, first);
    if (!error) error = posix_spawn_file_actions_addchdir_np(actions, launch->folder);
    return error;
}

int dlmtest_spawn(const char *path, const struct dlmtest_launch *launch, pid_t *pid) {
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    posix_spawn_file_actions_init(&actions);
    posix_spawnattr_init(&attributes);
    sigset_t signals;
    sigemptyset(&signals);
    posix_spawnattr_setsigmask(&attributes, &signals);
    sigfillset(&signals);
    posix_spawnattr_setsigdefault(&attributes, &signals);
    short group = launch->terminal ? POSIX_SPAWN_SETSID : POSIX_SPAWN_SETPGROUP;
    posix_spawnattr_setflags(&attributes, group | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
    int error = prepare(&actions, launch);
    if (!error) error = posix_spawn(pid, path, &actions, &attributes, launch->arguments, launch->environment);
    posix_spawn_file_actions_destroy(&actions);
    posix_spawnattr_destroy(&attributes);
    return error;
}

int dlmtest_resize_terminal(int master, int columns) {
    struct winsize size = {.ws_row = 24, .ws_col = (unsigned short)columns};
    return ioctl(master, TIOCSWINSZ, &size);
}

int dlmtest_open_terminal(int columns, char *name, size_t capacity) {
    int master = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC);
    if (master < 0) return -1;
    if (grantpt(master) == 0 && unlockpt(master) == 0 && ptsname_r(master, name, capacity) == 0
        && dlmtest_resize_terminal(master, columns) == 0)
        return master;
    int error = errno;
    close(master);
    errno = error;
    return -1;
}

int dlmtest_share(int fd, long long start, long long length) {
    struct flock lock = {.l_type = F_RDLCK, .l_whence = SEEK_SET, .l_start = start, .l_len = length};
    return fcntl(fd, F_OFD_SETLK, &lock);
}

int dlmtest_lock(int fd, long long start, long long length, int waits) {
    struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET, .l_start = start, .l_len = length};
    return fcntl(fd, waits ? F_OFD_SETLKW : F_OFD_SETLK, &lock);
}
