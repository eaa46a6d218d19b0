// The GNU parts of posix_spawn and of terminals that Swift's Glibc module does not offer.
#ifndef DLM_CTESTSUPPORT_H
#define DLM_CTESTSUPPORT_H

#include <sys/types.h>

#include "TLSServer.h"

struct dlmtest_launch {
    char *const *arguments;
    char *const *environment;
    const char *folder;
    /// Standard input, output, error.
    int descriptors[3];
    /// When not NULL: a terminal that becomes the controlling one, standard input and standard error.
    const char *terminal;
    /// Becomes descriptor 3; -1 for none.
    int passed;
};

/// Starts `path` in a process group of its own with default signals and no other descriptors but `passed`; an error number or 0.
int dlmtest_spawn(const char *path, const struct dlmtest_launch *launch, pid_t *pid);

/// A new pseudo-terminal: its master, and the name of the other side in `name`; -1 and errno on failure.
int dlmtest_open_terminal(int columns, char *name, size_t capacity);
int dlmtest_resize_terminal(int master, int columns);

/// An exclusive lock of the open file (F_OFD_SETLK, fcntl(2)) on some bytes; waits for it where asked. -1 and errno on failure.
int dlmtest_lock(int fd, long long start, long long length, int waits);

#endif
