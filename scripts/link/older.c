// Two symbols that the program needs and that glibc 2.31 lacks.
#include <dirent.h>
#include <errno.h>
#include <spawn.h>
#include <stdlib.h>

// libstdc++ reads this flag to save atomic operations in programs with one thread. The program has several.
char __libc_single_threaded = 0;

// Closes the descriptors that are open now. All that another thread opens later close themselves (O_CLOEXEC). The C library
// does not mind that the descriptor of the folder is closed already when the program starts.
int posix_spawn_file_actions_addclosefrom_np(posix_spawn_file_actions_t *actions, int from) {
    DIR *folder = opendir("/proc/self/fd");
    if (!folder) return errno;
    int error = 0;
    for (struct dirent *entry; !error && (entry = readdir(folder));) {
        int descriptor = atoi(entry->d_name);
        if (entry->d_name[0] != '.' && descriptor >= from) error = posix_spawn_file_actions_addclose(actions, descriptor);
    }
    closedir(folder);
    return error;
}
