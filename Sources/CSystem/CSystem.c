#define _GNU_SOURCE
#include <string.h>
#include "CSystem.h"

#include <errno.h>
#include <link.h>
#include <sys/mman.h>
#include <sys/xattr.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <malloc.h>
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/file.h>
#include <sys/inotify.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <sys/vfs.h>
#include <unistd.h>

int dlm_epoll_create(void) { return epoll_create1(EPOLL_CLOEXEC); }

int dlm_epoll_set(int epoll, int fd, uint32_t events, uint64_t data) {
    struct epoll_event event = {0};
    if (events & DLM_READABLE) event.events |= EPOLLIN;
    if (events & DLM_WRITABLE) event.events |= EPOLLOUT;
    event.data.u64 = data;
    if (epoll_ctl(epoll, EPOLL_CTL_MOD, fd, &event) == 0) return 0;
    if (errno != ENOENT) return -1;
    return epoll_ctl(epoll, EPOLL_CTL_ADD, fd, &event);
}

int dlm_epoll_remove(int epoll, int fd) { return epoll_ctl(epoll, EPOLL_CTL_DEL, fd, NULL); }

int dlm_epoll_wait(int epoll, struct dlm_event *events, int capacity, int timeout) {
    struct epoll_event ready[64];
    int count = epoll_wait(epoll, ready, capacity < 64 ? capacity : 64, timeout);
    for (int i = 0; i < count; i++) {
        uint32_t bits = 0;
        if (ready[i].events & EPOLLIN) bits |= DLM_READABLE;
        if (ready[i].events & EPOLLOUT) bits |= DLM_WRITABLE;
        if (ready[i].events & (EPOLLERR | EPOLLHUP)) bits |= DLM_FAILED;
        events[i].events = bits;
        events[i].data = ready[i].data.u64;
    }
    return count;
}

int64_t dlm_find(const void *text, size_t count, const void *needle, size_t needle_count) {
    const char *found = memmem(text, count, needle, needle_count);
    return found ? found - (const char *)text : -1;
}

int dlm_pipe(int *read_end, int *write_end) {
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0) return -1;
    *read_end = ends[0];
    *write_end = ends[1];
    return 0;
}

int dlm_eventfd(void) { return eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK); }

int dlm_eventfd_signal(int fd) {
    uint64_t one = 1;
    return write(fd, &one, sizeof one) == sizeof one ? 0 : -1;
}

void dlm_eventfd_drain(int fd) {
    uint64_t count;
    while (read(fd, &count, sizeof count) == sizeof count) {}
}

int dlm_preallocate(int fd, int64_t length) { return fallocate(fd, 0, 0, length); }

struct dlm_file_system dlm_file_system_of(int fd) {
    enum { REMOTE = 1, MEMORY = 2, EXACT = 4 };
    static const struct {
        uint32_t magic;
        int kind;
        const char *name;
    } known[] = {
        {EXT4_SUPER_MAGIC, EXACT, "ext4"},   {XFS_SUPER_MAGIC, EXACT, "xfs"},      {BTRFS_SUPER_MAGIC, EXACT, "btrfs"},
        {F2FS_SUPER_MAGIC, EXACT, "f2fs"},   {TMPFS_MAGIC, EXACT | MEMORY, "tmpfs"}, {RAMFS_MAGIC, MEMORY, "ramfs"},
        {OVERLAYFS_SUPER_MAGIC, 0, "overlay"}, {MSDOS_SUPER_MAGIC, 0, "vfat"},     {0x2011BAB0, 0, "exfat"},
        {0x5346544E, 0, "ntfs"},             {0x2FC12FC1, 0, "zfs"},               {0xCA451A4E, 0, "bcachefs"},
        {NFS_SUPER_MAGIC, REMOTE, "nfs"},    {SMB_SUPER_MAGIC, REMOTE, "smb"},     {0xFF534D42, REMOTE, "cifs"},
        {0xFE534D42, REMOTE, "smb2"},        {CODA_SUPER_MAGIC, REMOTE, "coda"},   {AFS_SUPER_MAGIC, REMOTE, "afs"},
        {0x00C36400, REMOTE, "ceph"},        {V9FS_MAGIC, REMOTE, "9p"},           {0x65735546, REMOTE, "fuse"},
    };
    struct statfs info;
    if (fstatfs(fd, &info) == 0)
        for (size_t i = 0; i < sizeof known / sizeof *known; i++)
            if (known[i].magic == (uint32_t)info.f_type)
                return (struct dlm_file_system){
                    known[i].name, known[i].kind & REMOTE, known[i].kind & MEMORY, known[i].kind & EXACT};
    return (struct dlm_file_system){0};
}

int dlm_exchange_names(const char *path, const char *other) {
    return renameat2(AT_FDCWD, path, AT_FDCWD, other, RENAME_EXCHANGE);
}

int64_t dlm_next_hole(int fd, int64_t offset) { return lseek(fd, offset, SEEK_HOLE); }

int64_t dlm_copy_range(int from, int to, int64_t offset, size_t count) {
    off_t in = offset, out = offset;
    return copy_file_range(from, &in, to, &out, count, 0);
}

int64_t dlm_next_data(int fd, int64_t offset) { return lseek(fd, offset, SEEK_DATA); }

int dlm_rename_no_replace(int folder, const char *from, const char *to) {
    if (renameat2(folder, from, folder, to, RENAME_NOREPLACE) == 0) return 0;
    if (errno != EINVAL && errno != ENOSYS) return -1;
    if (linkat(folder, from, folder, to, 0) != 0) return -1;
    return unlinkat(folder, from, 0);
}

int dlm_open_unnamed(int folder) { return openat(folder, ".", O_TMPFILE | O_RDWR | O_CLOEXEC, 0666); }

int dlm_link_unnamed(int fd, int folder, const char *name) {
    // AT_EMPTY_PATH needs a capability, or Linux 6.10 (linkat(2)). The way through /proc needs neither, but needs a
    // mounted /proc and costs twice as much.
    if (linkat(fd, "", folder, name, AT_EMPTY_PATH) == 0) return 0;
    if (errno != ENOENT) return -1;
    char path[32];
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    return linkat(AT_FDCWD, path, folder, name, AT_SYMLINK_FOLLOW);
}

int dlm_syncfs(int fd) { return syncfs(fd); }

static int64_t nanoseconds(struct statx_timestamp time) { return time.tv_sec * 1000000000LL + time.tv_nsec; }

int dlm_file_status(int fd, const char *path, struct dlm_status *status) {
    struct statx info;
    int flags = AT_SYMLINK_NOFOLLOW | (*path ? 0 : AT_EMPTY_PATH);
    if (statx(*path ? AT_FDCWD : fd, path, flags, STATX_BASIC_STATS | STATX_BTIME, &info) != 0) return -1;
    status->inode = info.stx_ino;
    status->device = makedev(info.stx_dev_major, info.stx_dev_minor);
    status->size = (int64_t)info.stx_size;
    status->modified = nanoseconds(info.stx_mtime);
    status->born = info.stx_mask & STATX_BTIME ? nanoseconds(info.stx_btime) : 0;
    status->is_regular = S_ISREG(info.stx_mode);
    return 0;
}

int dlm_lock_exclusive(int fd) {
    int result;
    do result = flock(fd, LOCK_EX | LOCK_NB);
    while (result != 0 && errno == EINTR);
    return result;
}

int dlm_unlock(int fd) { return flock(fd, LOCK_UN); }

int dlm_set_attribute(int fd, const char *name, const void *bytes, size_t count) {
    return fsetxattr(fd, name, bytes, count, 0);
}

ssize_t dlm_get_attribute(int fd, const char *name, void *bytes, size_t count) {
    return fgetxattr(fd, name, bytes, count);
}

void dlm_remove_attribute(int fd, const char *name) { (void)fremovexattr(fd, name); }

int dlm_watch_create(void) { return inotify_init1(IN_NONBLOCK | IN_CLOEXEC); }

int dlm_watch_add(int watches, int fd) {
    char path[32];
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    return inotify_add_watch(watches, path, IN_CLOSE_WRITE);
}

int dlm_watch_remove(int watches, int watch) { return inotify_rm_watch(watches, watch); }

int dlm_watch_read(int watches, int *closed, int capacity) {
    // inotify adds a name to an event only if a folder is watched. Here only files are watched, so all events have the
    // same size.
    struct inotify_event events[64];
    int room = capacity < 64 ? capacity : 64;
    ssize_t size = read(watches, events, (size_t)room * sizeof *events);
    int count = 0;
    for (int i = 0; i < size / (ssize_t)sizeof *events; i++)
        if (events[i].mask & (IN_CLOSE_WRITE | IN_Q_OVERFLOW)) closed[count++] = events[i].wd;
        else closed[count++] = 0;
    return count;
}

int dlm_spawn(const char *path, char *const *arguments, char *const *environment, const char *folder,
              const int *descriptors, int count, int is_session, pid_t *pid) {
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    int error = 0;
    for (int number = 0; number < count && !error; number++)
        if (descriptors[number] >= 0) error = posix_spawn_file_actions_adddup2(&actions, descriptors[number], number);
    if (!error && descriptors[0] < 0) error = posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
    if (!error) error = posix_spawn_file_actions_addclosefrom_np(&actions, count);
    if (!error) error = posix_spawn_file_actions_addchdir_np(&actions, folder);
    posix_spawnattr_t attributes;
    posix_spawnattr_init(&attributes);
    sigset_t signals;
    sigemptyset(&signals);
    posix_spawnattr_setsigmask(&attributes, &signals);
    sigfillset(&signals);
    posix_spawnattr_setsigdefault(&attributes, &signals);
    int leader = is_session ? POSIX_SPAWN_SETSID : POSIX_SPAWN_SETPGROUP;
    posix_spawnattr_setflags(&attributes, (short)(leader | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF));
    if (!error) error = posix_spawn(pid, path, &actions, &attributes, arguments, environment);
    posix_spawnattr_destroy(&attributes);
    posix_spawn_file_actions_destroy(&actions);
    return error;
}

int dlm_memory_file(const void *bytes, size_t count) {
    int fd = memfd_create("dlm", MFD_CLOEXEC);
    if (fd < 0) return -1;
    const char *rest = bytes;
    while (count > 0) {
        ssize_t written = write(fd, rest, count);
        if (written < 0 && errno == EINTR) continue;
        if (written <= 0) {
            close(fd);
            return -1;
        }
        rest += written;
        count -= (size_t)written;
    }
    lseek(fd, 0, SEEK_SET);
    return fd;
}

int dlm_memory_box(size_t count) {
    int fd = memfd_create("dlm", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    if (fd < 0) return -1;
    if (ftruncate(fd, (off_t)count) == 0 && fcntl(fd, F_ADD_SEALS, F_SEAL_GROW | F_SEAL_SHRINK) == 0) return fd;
    int number = errno;
    close(fd);
    errno = number;
    return -1;
}

int dlm_open_folder(const char *path) { return open(path, O_PATH | O_DIRECTORY | O_CLOEXEC); }

static int open_folder(int folder, const char *path, uint64_t flags, uint64_t resolve) {
    // This is `struct open_how` from linux/openat2.h, a header that old systems lack.
    struct {
        uint64_t flags, mode, resolve;
    } how = {.flags = flags | O_DIRECTORY | O_CLOEXEC, .resolve = resolve};
    return (int)syscall(437, folder, path, &how, sizeof how);
}

int dlm_open_folder_beneath(int folder, const char *path) { return open_folder(folder, path, O_PATH, 0x08 | 0x02); }

int dlm_open_folder_without_links(const char *path) { return open_folder(AT_FDCWD, path, O_RDONLY, 0x04); }

int dlm_pidfd_open(pid_t pid) { return (int)syscall(SYS_pidfd_open, pid, 0); }

void dlm_name_thread(const char *name) { pthread_setname_np(pthread_self(), name); }

int dlm_terminal_columns(int fd) {
    struct winsize size;
    return ioctl(fd, TIOCGWINSZ, &size) == 0 ? size.ws_col : 0;
}

int dlm_terminal_rows(int fd) {
    struct winsize size;
    return ioctl(fd, TIOCGWINSZ, &size) == 0 ? size.ws_row : 0;
}

static int forget_code(struct dl_phdr_info *object, size_t size, void *page) {
    (void)size;
    uintptr_t mask = *(uintptr_t *)page - 1;
    for (int index = 0; index < object->dlpi_phnum; index++) {
        const ElfW(Phdr) *segment = &object->dlpi_phdr[index];
        if (segment->p_type != PT_LOAD || segment->p_flags & PF_W) continue;
        uintptr_t start = object->dlpi_addr + segment->p_vaddr;
        uintptr_t end = (start + segment->p_memsz + mask) & ~mask;
        madvise((void *)(start & ~mask), end - (start & ~mask), MADV_DONTNEED);
    }
    return 0;
}

void dlm_use_one_arena(void) { mallopt(M_ARENA_MAX, 1); }

void dlm_set_up_memory(void) {
    mallopt(M_ARENA_MAX, 3);
    mallopt(M_TRIM_THRESHOLD, 4 << 20);
    mallopt(M_MMAP_THRESHOLD, 1 << 20);
}

void dlm_forget_code(void) {
    uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
    dl_iterate_phdr(forget_code, &page);
}
