// This library simulates a disk that loses unsynced data. It copies what a program syncs below $DLM_POWER_ROOT to
// $DLM_POWER_SHADOW. Only these copies surely survive a loss of power. No sync reaches the real disk. Mappings, O_SYNC
// and O_DSYNC are not recorded.
//
//   data/INODE   the bytes of a file at its last sync
//   live/INODE   a second link to the file itself, so that it keeps its inode whatever becomes of its names
//   dirs/INODE   the names in a folder at its last sync, a line each: type, inode, name
//
// A read of the kernel's boot ID returns the contents of $DLM_POWER_BOOT instead.
//
// If the file $DLM_POWER_FAIL exists, a sync of a partial file removes it, fails, and loses the bytes since the last sync of
// the file: the kernel takes them for written (fsync(2)). If $DLM_POWER_LATE is set, the disk lies: a sync returns before its
// bytes and names are safe. They are safe only after the next sync of the same file or folder.
#define _GNU_SOURCE
#include "CPowerLoss.h"

#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const char *root, *shadow, *boot, *fails, *late;

__attribute__((constructor)) static void begin(void) {
    root = getenv("DLM_POWER_ROOT");
    shadow = getenv("DLM_POWER_SHADOW");
    boot = getenv("DLM_POWER_BOOT");
    fails = getenv("DLM_POWER_FAIL");
    late = getenv("DLM_POWER_LATE");
}

static void die(const char *what) {
    fprintf(stderr, "power loss: %s: %s\n", what, strerror(errno));
    abort();
}

/// Writes the path of an open file to `path`. Returns 0 if the file is not below the root.
static int path_of(int fd, char *path, size_t capacity) {
    char link[64];
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    ssize_t length = readlink(link, path, capacity - 1);
    if (length < 0) return 0;
    path[length] = 0;
    size_t prefix = strlen(root);
    return strncmp(path, root, prefix) == 0 && (path[prefix] == '/' || path[prefix] == 0);
}

static void name_of(char *path, const char *kind, unsigned long long inode) {
    snprintf(path, PATH_MAX, "%s/%s/%llu", shadow, kind, inode);
}

/// Opens a new file that will replace `kind`/`inode` in one step.
static int open_next(char *next, const char *kind, unsigned long long inode) {
    snprintf(next, PATH_MAX, "%s/%s/%llu-%d-%d", shadow, kind, inode, (int)getpid(), (int)gettid());
    int fd = open(next, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    if (fd < 0) die(next);
    return fd;
}

static void replace(int fd, const char *next, const char *kind, unsigned long long inode) {
    char path[PATH_MAX], waiting[PATH_MAX];
    name_of(path, kind, inode);
    close(fd);
    if (late) {
        snprintf(waiting, sizeof waiting, "%s/late/%s-%llu", shadow, kind, inode);
        if (rename(waiting, path) != 0 && errno != ENOENT) die(path);
        if (rename(next, waiting) != 0) die(waiting);
        return;
    }
    if (rename(next, path) != 0) die(path);
}

static void write_all(int fd, const char *bytes, size_t count) {
    while (count > 0) {
        ssize_t done = write(fd, bytes, count);
        if (done < 0) die("write");
        bytes += done;
        count -= (size_t)done;
    }
}

static void keep_link(int folder, const char *path, unsigned long long inode) {
    char live[PATH_MAX];
    name_of(live, "live", inode);
    // A file that has lost its last name cannot be found after the cut, so the error is ignored.
    if (linkat(folder, path, AT_FDCWD, live, AT_SYMLINK_FOLLOW) != 0 && errno != EEXIST && errno != ENOENT) die(live);
}

/// Copies a file. Reads through the caller's descriptor, because closing another one would drop the locks that SQLite
/// has on the file.
static void keep_file(int fd, unsigned long long inode) {
    char next[PATH_MAX], link[64], bytes[1 << 16];
    int copy = open_next(next, "data", inode);
    off_t offset = 0;
    ssize_t count;
    while ((count = pread(fd, bytes, sizeof bytes, offset)) > 0) {
        write_all(copy, bytes, (size_t)count);
        offset += count;
    }
    if (count < 0) die("read what is synced");
    replace(copy, next, "data", inode);
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    keep_link(AT_FDCWD, link, inode);
}

static void keep_folder(const char *path, unsigned long long inode) {
    char next[PATH_MAX], line[NAME_MAX + 64];
    DIR *folder = opendir(path);
    if (!folder) return;
    int list = open_next(next, "dirs", inode);
    struct dirent *entry;
    while ((entry = readdir(folder))) {
        if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0) continue;
        if (entry->d_type != DT_REG && entry->d_type != DT_DIR) continue;
        if (entry->d_type == DT_REG) keep_link(dirfd(folder), entry->d_name, entry->d_ino);
        int length = snprintf(line, sizeof line, "%c %llu %s\n", entry->d_type == DT_DIR ? 'd' : 'f',
                              (unsigned long long)entry->d_ino, entry->d_name);
        write_all(list, line, (size_t)length);
    }
    closedir(folder);
    replace(list, next, "dirs", inode);
}

/// Copies a folder or a file. SQLite's files are left out because of their locks, so they are less durable here than on
/// a real disk.
static int keep_any(const char *path, const struct stat *info, int type, struct FTW *place) {
    (void)place;
    if (type == FTW_D) keep_folder(path, info->st_ino);
    if (type != FTW_F || !S_ISREG(info->st_mode) || strstr(path, ".sqlite")) return 0;
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0) return 0;
    keep_file(fd, info->st_ino);
    close(fd);
    return 0;
}

/// Copies open files that have no name, because no walk through the folders finds them. A link in `live` gives such a
/// file a name, which st_nlink counts, but /proc still calls the file deleted.
static void keep_unnamed(void) {
    DIR *descriptors = opendir("/proc/self/fd");
    if (!descriptors) return;
    struct dirent *entry;
    while ((entry = readdir(descriptors))) {
        char path[PATH_MAX];
        struct stat info;
        int fd = atoi(entry->d_name);
        if (fd == dirfd(descriptors) || fstat(fd, &info) != 0) continue;
        if (!S_ISREG(info.st_mode) || !path_of(fd, path, sizeof path)) continue;
        if (strstr(path, " (deleted)")) keep_file(fd, info.st_ino);
    }
    closedir(descriptors);
}

/// Gives a file the bytes of its last sync, as if the kernel had dropped the pages since then.
static void lose_pages(int fd, const struct stat *info) {
    char path[PATH_MAX], bytes[1 << 16];
    name_of(path, "data", info->st_ino);
    int synced = open(path, O_RDONLY | O_CLOEXEC);
    for (off_t offset = 0; offset < info->st_size; offset += sizeof bytes) {
        size_t count = sizeof bytes < (size_t)(info->st_size - offset) ? sizeof bytes : (size_t)(info->st_size - offset);
        memset(bytes, 0, count);
        if (synced >= 0 && pread(synced, bytes, count, offset) < 0) die(path);
        if (pwrite(fd, bytes, count, offset) != (ssize_t)count) die("lose pages");
    }
    if (synced >= 0) close(synced);
}

static int keep(int fd) {
    char path[PATH_MAX];
    struct stat info;
    if (fstat(fd, &info) != 0) return -1;
    int error = errno;
    if (root && shadow && path_of(fd, path, sizeof path)) {
        size_t length = strlen(path);
        if (fails && length > 5 && strcmp(path + length - 5, ".part") == 0 && unlink(fails) == 0) {
            lose_pages(fd, &info);
            errno = EIO;
            return -1;
        }
        if (S_ISREG(info.st_mode)) keep_file(fd, info.st_ino);
        if (S_ISDIR(info.st_mode)) keep_folder(path, info.st_ino);
    }
    errno = error;
    return 0;
}

int fsync(int fd) { return keep(fd); }

int fdatasync(int fd) { return keep(fd); }

int syncfs(int fd) {
    struct stat info;
    if (fstat(fd, &info) != 0) return -1;
    if (root && shadow) {
        nftw(root, keep_any, 16, FTW_PHYS);
        keep_unnamed();
    }
    return 0;
}

static const char *mapped(const char *path) {
    return boot && strcmp(path, "/proc/sys/kernel/random/boot_id") == 0 ? boot : path;
}

#define OPEN(name)                                                                     \
    int name(const char *path, int flags, ...) {                                      \
        static int (*real)(const char *, int, ...);                                   \
        if (!real) real = (int (*)(const char *, int, ...))dlsym(RTLD_NEXT, #name);   \
        va_list rest;                                                                 \
        va_start(rest, flags);                                                        \
        mode_t mode = flags & (O_CREAT | __O_TMPFILE) ? va_arg(rest, mode_t) : 0;     \
        va_end(rest);                                                                 \
        return real(mapped(path), flags, mode);                                       \
    }

OPEN(open)
OPEN(open64)
