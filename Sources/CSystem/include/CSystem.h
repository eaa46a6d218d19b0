// The Linux calls and OpenSSL digests that Swift's Glibc module does not offer.
// Feature-test macros stay in CSystem.c: defined here they would break the import.
#ifndef DLM_CSYSTEM_H
#define DLM_CSYSTEM_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/// One ready descriptor: `events` are the EPOLL bits, `data` what was registered.
struct dlm_event {
    uint32_t events;
    uint64_t data;
};

enum dlm_readiness { DLM_READABLE = 1, DLM_WRITABLE = 2, DLM_FAILED = 4 };

/// All calls below return -1 and set errno on failure, as their man pages say.
int dlm_epoll_create(void);
/// Registers or changes `fd`; `events` is a mask of DLM_READABLE and DLM_WRITABLE.
int dlm_epoll_set(int epoll, int fd, uint32_t events, uint64_t data);
int dlm_epoll_remove(int epoll, int fd);
/// Waits `timeout` ms (-1: for ever) and fills at most 64 events.
int dlm_epoll_wait(int epoll, struct dlm_event *events, int capacity, int timeout);

/// memmem(3), which takes time in proportion to both lengths together: the offset of the first `needle` in `text`, or -1.
int64_t dlm_find(const void *text, size_t count, const void *needle, size_t needle_count);

/// Makes a pipe whose two ends no program that is started gets; -1 with errno after a failure.
int dlm_pipe(int *read_end, int *write_end);

int dlm_eventfd(void);
int dlm_eventfd_signal(int fd);
void dlm_eventfd_drain(int fd);

/// fallocate(2) of the first `length` bytes: fails with EOPNOTSUPP where the file system has no such thing.
int dlm_preallocate(int fd, int64_t length);
/// True when `fd` lies in memory (tmpfs, ramfs), where preallocation costs and gains nothing.
int dlm_is_memory_file_system(int fd);
/// True when `fd` lies on a local file system whose holes are what nobody wrote, and whose times of change are those of
/// the writes: neither holds for network file systems, nor for those that do not store zeros.
int dlm_keeps_exact_books(int fd);
/// What the file system of `fd` is called, NULL when that is not known; `is_remote` is set where it is one of the network,
/// or (FUSE) may be one.
const char *dlm_file_system_name(int fd, int *is_remote);
/// Where the next hole begins at or after `offset`; the end of the file counts as one. -1 with errno set.
int64_t dlm_next_hole(int fd, int64_t offset);
/// Has the kernel copy so many bytes to the same offset of another file. How many it copied, 0 at the end; -1 with errno set.
int64_t dlm_copy_range(int from, int to, int64_t offset, size_t count);
/// Where the next data begins at or after `offset`. -1 with errno set (ENXIO: nowhere).
int64_t dlm_next_data(int fd, int64_t offset);
/// renameat2(2) with RENAME_NOREPLACE, or link(2) and unlink(2) where the file system lacks it.
int dlm_rename_no_replace(int folder, const char *from, const char *to);
/// Makes a file without a name in `folder`, open for reading and writing (open(2), O_TMPFILE): closed without a name, it
/// is gone. EOPNOTSUPP or EISDIR where the file system has no such thing.
int dlm_open_unnamed(int folder);
/// Gives such a file a name; EEXIST when that is taken.
int dlm_link_unnamed(int fd, int folder, const char *name);
/// Starts write-back of a range without waiting; no promise of durability.
int dlm_start_writeback(int fd, int64_t offset, int64_t length);
int dlm_syncfs(int fd);
/// What statx(2) tells of a file; times in nanoseconds since 1970.
struct dlm_status {
    uint64_t inode;
    uint64_t device;
    int64_t size;
    int64_t modified;
    /// 0 where the file system does not record it.
    int64_t born;
    int is_regular;
};
/// The file itself is asked, not what a symbolic link leads to; with an empty `path`, the open file `fd`.
int dlm_file_status(int fd, const char *path, struct dlm_status *status);
/// Exclusive flock(2) without waiting: EWOULDBLOCK when somebody else holds it.
int dlm_lock_exclusive(int fd);
int dlm_unlock(int fd);

/// inotify(7) for files that are closed after they were open for writing: a descriptor that never blocks.
int dlm_watch_create(void);
/// Watches the open file `fd`, whatever its name; the number of the watch, the same again for the same file.
int dlm_watch_add(int watches, int fd);
int dlm_watch_remove(int watches, int watch);
/// The watches whose files were closed so since the last call, -1 among them when some were lost; 0 when there are none.
int dlm_watch_read(int watches, int *closed, int capacity);

/// Starts `path` as the leader of a session of its own, in /, with default signals: standard input is empty, `output`
/// its standard output and error, `report` its descriptor DLM_REPORT_FD, and no other is open. An error number or 0.
int dlm_spawn_detached(const char *path, char *const *arguments, char *const *environment, int output, int report,
                       pid_t *pid);
enum { DLM_REPORT_FD = 3 };
/// Starts `path` as the leader of a process group of its own, in `folder`, with default signals: `input` is its standard
/// input, `output` and `errors` its standard output and error, and no other descriptor is open. An error number or 0.
int dlm_spawn_hook(const char *path, char *const *arguments, char *const *environment, const char *folder, int input,
                   int output, int errors, pid_t *pid);
/// Starts `path` as the leader of a process group of its own, in the root folder, with default signals: `output` is its
/// standard output, its standard error is ours, and it reads nothing. An error number or 0.
int dlm_spawn_for_output(const char *path, char *const *arguments, char *const *environment, int output, pid_t *pid);
/// A file in memory with these bytes, to be read from its beginning; -1 with errno set.
int dlm_memory_file(const void *bytes, size_t count);
/// A file in memory that takes so many bytes, zeros at first, and no more; -1 with errno set.
int dlm_memory_box(size_t count);
/// Opens a folder to refer to it (open(2), O_PATH).
int dlm_open_folder(const char *path);
/// Opens a folder below `folder` to refer to it (O_PATH): EXDEV where `path` leads out of it, also through symbolic links
/// (openat2(2), RESOLVE_BENEATH and RESOLVE_NO_MAGICLINKS).
int dlm_open_folder_beneath(int folder, const char *path);
/// pidfd_open(2): readable once the process has ended.
int dlm_pidfd_open(pid_t pid);

/// rtnetlink(7): a descriptor that never blocks and hears of every change of links, addresses and routes.
int dlm_network_watch(void);
/// True when something has changed since the last call.
int dlm_network_changed(int fd);
/// Tells the addresses of interfaces that are up and have a carrier (getifaddrs(3)).
int dlm_usable_addresses(void (*found)(void *context, const char *address), void *context);
/// 1: the kernel has a route to this numeric address, over an interface that is up and has a carrier. 0: it has none.
/// -1: it does not tell. `over` (an interface) and `from` (an address of this machine) may be NULL.
int dlm_has_route(const char *address, const char *over, const char *from);
int dlm_has_interface(const char *name);
enum { DLM_ADDRESS_LENGTH = 46 };
/// The local address of an internet socket, as text; -1 for anything else.
int dlm_local_address(int fd, char text[DLM_ADDRESS_LENGTH]);

void dlm_name_thread(const char *name);
/// Columns of the terminal behind `fd`, 0 when it is none.
int dlm_terminal_columns(int fd);
/// Rows of the terminal behind `fd`, 0 when it is none.
int dlm_terminal_rows(int fd);

/// Message digests through OpenSSL's EVP; NULL when the name is unknown.
struct dlm_digest;
struct dlm_digest *dlm_digest_create(const char *name);
/// Goes on from what was hashed so far; NULL without memory.
struct dlm_digest *dlm_digest_copy(const struct dlm_digest *digest);
int dlm_digest_update(struct dlm_digest *digest, const void *bytes, size_t count);
/// Writes the digest (at most 64 bytes) and returns its length, 0 on failure.
size_t dlm_digest_finish(struct dlm_digest *digest, uint8_t *out);
void dlm_digest_free(struct dlm_digest *digest);

/// All threads allocate from one arena (mallopt(3)): by default each reserves up to 128 MiB of addresses for its own.
void dlm_use_one_arena(void);
/// How the program uses its memory (mallopt(3)). Its threads share three arenas, which costs no time that can be measured:
/// with one for each, 50,000 files take 5 MiB more. Up to 4 MiB of an arena that are free stay with the process, for its
/// next transfers: given back at once, as is the default, their pages are faulted in anew for each.
void dlm_set_up_memory(void);
/// True once the peer has ended the OpenSSL session `ssl` with close_notify.
int dlm_tls_was_closed(const void *ssl);
/// Copies decrypted bytes of the OpenSSL session `ssl` that nobody has read yet, without reading from its socket.
int dlm_tls_unread(void *ssl, void *bytes, int capacity);
/// The protocol version and the cipher of the OpenSSL session `ssl`; 0 when they cannot be told.
int dlm_tls_names(const void *ssl, const char **version, const char **cipher);

/// Gives back the pages of code and constants that are mapped: those that are needed come again from the page cache.
/// Start-up touches many that are never needed again, the tables of types above all.
void dlm_forget_code(void);

#endif
