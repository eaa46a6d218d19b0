// The GNU parts of posix_spawn and of terminals that Swift's Glibc module lacks.
#ifndef DLM_CTESTSUPPORT_H
#define DLM_CTESTSUPPORT_H

#include <sys/types.h>

#include "HeadOracle.h"
#include "TLSServer.h"

struct dlmtest_launch {
    char *const *arguments;
    char *const *environment;
    const char *folder;
    /// Standard input, output and error. With a terminal, a negative output means that the terminal is the output, too.
    int descriptors[3];
    /// The path of a terminal that becomes the controlling terminal, standard input and standard error. NULL means
    /// none.
    const char *terminal;
    /// A descriptor that becomes descriptor 3. -1 means none.
    int passed;
};

/// Starts `path` in a process group of its own, with default signals and no other descriptors but `passed`. Returns an
/// error number or 0.
int dlmtest_spawn(const char *path, const struct dlmtest_launch *launch, pid_t *pid);

/// Opens a new pseudo-terminal. Returns its master, and the name of the other side in `name`. Returns -1 and sets errno
/// on failure.
int dlmtest_open_terminal(int columns, char *name, size_t capacity);
int dlmtest_resize_terminal(int master, int columns);

/// Locks some bytes exclusively for the open file (F_OFD_SETLK, fcntl(2)), and waits for the lock if asked. Returns -1
/// and sets errno on failure.
int dlmtest_lock(int fd, long long start, long long length, int waits);
/// Locks some bytes for reading, without waiting.
int dlmtest_share(int fd, long long start, long long length);

#endif
