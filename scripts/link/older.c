// What the program refers to and glibc 2.31 does not have.

// libstdc++ reads this flag to save atomic operations in programs with one thread. The program has several.
char __libc_single_threaded = 0;

// Foundation's Process calls this function. The program starts no process with it.
int posix_spawn_file_actions_addclosefrom_np(void *actions, int from) {
    (void)actions, (void)from;
    return 38; // ENOSYS
}
