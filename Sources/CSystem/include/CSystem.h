// The Linux calls and OpenSSL digests that Swift's Glibc module does not offer. Feature-test macros such as _GNU_SOURCE
// are defined in the .c files, because in this header they would break the import into Swift.
#ifndef DLM_CSYSTEM_H
#define DLM_CSYSTEM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/// The events of one descriptor. `events` is a mask of `dlm_readiness`; `data` is the value that was registered.
struct dlm_event {
    uint32_t events;
    uint64_t data;
};

enum dlm_readiness { DLM_READABLE = 1, DLM_WRITABLE = 2, DLM_FAILED = 4 };

/// Unless a comment says otherwise, the calls below return -1 and set errno on failure, as their man pages say.
int dlm_epoll_create(void);
/// Registers or changes `fd`; `events` is a mask of DLM_READABLE and DLM_WRITABLE.
int dlm_epoll_set(int epoll, int fd, uint32_t events, uint64_t data);
int dlm_epoll_remove(int epoll, int fd);
/// Waits at most `timeout` ms (-1: without limit), stores at most `capacity` events (never more than 64), and returns
/// their number.
int dlm_epoll_wait(int epoll, struct dlm_event *events, int capacity, int timeout);

/// Returns the offset of the first `needle` in `text`, or -1 if there is none. The time of memmem(3) grows with the sum
/// of both lengths.
int64_t dlm_find(const void *text, size_t count, const void *needle, size_t needle_count);

/// Makes a pipe. Both ends are close-on-exec, so started programs do not get them.
int dlm_pipe(int *read_end, int *write_end);

int dlm_eventfd(void);
int dlm_eventfd_signal(int fd);
void dlm_eventfd_drain(int fd);

/// Preallocates the first `length` bytes (fallocate(2)). Fails with EOPNOTSUPP if the file system cannot preallocate.
int dlm_preallocate(int fd, int64_t length);
struct dlm_file_system {
    /// NULL if the name is not known.
    const char *name;
    /// Whether it is a network file system, or FUSE, which may be one.
    bool is_remote;
    /// Whether it is in memory. Preallocation gains nothing there.
    bool is_in_memory;
    /// Whether a hole in a file shows that nobody wrote there, and the modification time is the time of the last write.
    /// This is so on the common local file systems. It is not so on network file systems, and on file systems that store
    /// written zeros as holes.
    bool keeps_exact_books;
};
/// Returns what is known about the file system of `fd`.
struct dlm_file_system dlm_file_system_of(int fd);
/// Returns the start of the next hole at or after `offset`. The end of the file counts as a hole.
int64_t dlm_next_hole(int fd, int64_t offset);
/// Makes the kernel copy at most `count` bytes to the same offset of another file. Returns the number of copied bytes,
/// 0 at the end of the file.
int64_t dlm_copy_range(int from, int to, int64_t offset, size_t count);
/// Returns the start of the next data at or after `offset`. Fails with ENXIO if there is no further data.
int64_t dlm_next_data(int fd, int64_t offset);
/// Renames a file, and fails with EEXIST if `to` exists (renameat2(2), RENAME_NOREPLACE). If the file system lacks
/// RENAME_NOREPLACE, uses linkat(2) and unlinkat(2).
int dlm_rename_no_replace(int folder, const char *from, const char *to);
/// Lets two files exchange their names in one step (RENAME_EXCHANGE, rename(2)).
int dlm_exchange_names(const char *path, const char *other);
/// Makes a file without a name in `folder`, open for reading and writing (open(2), O_TMPFILE). If the file is closed
/// before it gets a name, it disappears. Fails with EOPNOTSUPP or EISDIR if the file system cannot do this.
int dlm_open_unnamed(int folder);
/// Gives a name to a file that `dlm_open_unnamed` made. Fails with EEXIST if the name is taken.
int dlm_link_unnamed(int fd, int folder, const char *name);
int dlm_syncfs(int fd);
/// The status of a file (statx(2)). Times are in nanoseconds since 1970.
struct dlm_status {
    uint64_t inode;
    uint64_t device;
    int64_t size;
    int64_t modified;
    /// The time of creation; 0 if the file system does not record it.
    int64_t born;
    int is_regular;
};
/// Stores the status of the file at `path`, or of the open file `fd` if `path` is empty. For a symbolic link, it is the
/// status of the link itself.
int dlm_file_status(int fd, const char *path, struct dlm_status *status);
/// Locks a file exclusively (flock(2)), without waiting. Fails with EWOULDBLOCK if another open file description has
/// the lock.
int dlm_lock_exclusive(int fd);
int dlm_unlock(int fd);

/// Sets an extended attribute (fsetxattr(2)).
int dlm_set_attribute(int fd, const char *name, const void *bytes, size_t count);
/// Reads an extended attribute (fgetxattr(2)). Returns its size, or -1.
ssize_t dlm_get_attribute(int fd, const char *name, void *bytes, size_t count);
/// Removes an extended attribute, if there is one.
void dlm_remove_attribute(int fd, const char *name);

/// Returns a non-blocking descriptor that watches for the closing of files that were open for writing (inotify(7)).
int dlm_watch_create(void);
/// Watches the open file `fd`, and returns the number of the watch. A second call for the same file returns the same
/// number. Renaming the file does not end the watch.
int dlm_watch_add(int watches, int fd);
int dlm_watch_remove(int watches, int watch);
/// Stores the watches whose files were closed since the last call, and returns the number of stored values. The value
/// -1 means that the kernel dropped events; 0 is to be ignored. Returns 0 if there are no events.
int dlm_watch_read(int watches, int *closed, int capacity);

/// Starts the program `path` in `folder`, with default signals, as the leader of a new session (setsid(2)) or of a new
/// process group. `descriptors` become its `count` descriptors from 0; if the first one is -1, its standard input is empty.
/// No other descriptor is open. Returns 0 or an error number.
int dlm_spawn(const char *path, char *const *arguments, char *const *environment, const char *folder,
              const int *descriptors, int count, int is_session, pid_t *pid);
/// The descriptor to which a background session reports that it is ready.
enum { DLM_REPORT_FD = 3 };
/// Returns the descriptor of a new file in memory that contains these bytes. Its offset is at the beginning.
int dlm_memory_file(const void *bytes, size_t count);
/// Returns the descriptor of a new file in memory with `count` zero bytes, whose size cannot change.
int dlm_memory_box(size_t count);
/// Opens a folder as a starting point for other calls (open(2), O_PATH).
int dlm_open_folder(const char *path);
/// Opens a folder below `folder` as a starting point for other calls (O_PATH). Fails with EXDEV if `path` leads out of
/// `folder`, directly or through symbolic links (openat2(2), RESOLVE_BENEATH and RESOLVE_NO_MAGICLINKS).
int dlm_open_folder_beneath(int folder, const char *path);
/// Opens a folder for reading, if no part of its path is a symbolic link (openat2(2), RESOLVE_NO_SYMLINKS).
int dlm_open_folder_without_links(const char *path);
/// Returns a descriptor that becomes readable when the process has ended (pidfd_open(2)).
int dlm_pidfd_open(pid_t pid);

/// Returns a non-blocking descriptor that gets a message for every change of interfaces, addresses and routes
/// (rtnetlink(7)).
int dlm_network_watch(void);
/// Reads the messages of the descriptor. Returns 1 if there were any, that is, if the network has changed since the
/// last call.
int dlm_network_changed(int fd);
/// Calls `found` with each address of the interfaces that are up and have a carrier (getifaddrs(3)).
int dlm_usable_addresses(void (*found)(void *context, const char *address), void *context);
/// Returns 1 if the kernel has a route to this numeric address, over an interface that is up and has a carrier. Returns
/// 0 if there is no such route, and -1 if the kernel does not say. `over` (an interface) and `from` (an address of this
/// machine) restrict the route; both may be NULL.
int dlm_has_route(const char *address, const char *over, const char *from);
int dlm_has_interface(const char *name);
enum { DLM_ADDRESS_LENGTH = 46 };
/// Stores the local address of an internet socket as text. Returns -1 if `fd` is not an internet socket.
int dlm_local_address(int fd, char text[DLM_ADDRESS_LENGTH]);

void dlm_name_thread(const char *name);
/// Returns the number of columns of the terminal `fd`; 0 if `fd` is not a terminal.
int dlm_terminal_columns(int fd);
/// Returns the number of rows of the terminal `fd`; 0 if `fd` is not a terminal.
int dlm_terminal_rows(int fd);

/// Turns the terminal of stdin and stdout into a screen: the alternate screen without a cursor, with mouse events, and
/// with keys that are read one by one (termios(3)). If `keys_only` is not 0, changes only how keys are read, and SIGTSTP
/// stops the process at once. From then on, SIGQUIT and the signals of a crash leave the screen before they end the
/// process, unless they had handlers before. Only one thread may call this function.
int dlm_screen_enter(int keys_only);
/// Restores the terminal, if the screen was entered. Any thread and any signal handler may call this function.
void dlm_screen_leave(void);
/// If SIGTSTP has arrived, restores the terminal, stops the process as SIGTSTP does, and returns 1 when the process
/// continues. The screen must then be entered again.
int dlm_screen_stop_if_asked(void);
/// Returns 1 if the process was stopped and continued since the screen was entered or this function was called.
int dlm_screen_was_continued(void);

/// A compressor to the gzip format (RFC 1952), by zlib.
typedef struct dlm_gzip dlm_gzip;
/// Returns NULL if zlib cannot be loaded, or if there is no memory.
dlm_gzip *dlm_gzip_new(void);
void dlm_gzip_free(dlm_gzip *gzip);
/// Gives bytes to compress. They must stay in memory until dlm_gzip_take has returned less than it had room for.
void dlm_gzip_give(dlm_gzip *gzip, const void *bytes, size_t count);
/// Stores compressed bytes, and returns their number. With `is_end`, all bytes have been given.
size_t dlm_gzip_take(dlm_gzip *gzip, void *bytes, size_t room, int is_end);

/// Returns the kind of the CRC `name` (crc32, crc32c, crc64nvme); -1 for any other name.
int dlm_crc_kind(const char *name);
/// Returns the number of bytes of a CRC of this kind.
int dlm_crc_width(int kind);
/// Returns the CRC of the bytes before, whose CRC is `crc` (0 if there are none), and of these bytes.
uint64_t dlm_crc_update(int kind, uint64_t crc, const void *bytes, size_t count);

/// A message digest that OpenSSL computes (EVP), or a CRC.
struct dlm_digest;
/// Returns NULL if the name is no CRC and OpenSSL does not know it, or cannot be loaded.
struct dlm_digest *dlm_digest_create(const char *name);
/// Returns a copy that has hashed the same bytes so far; NULL if there is no memory.
struct dlm_digest *dlm_digest_copy(const struct dlm_digest *digest);
int dlm_digest_update(struct dlm_digest *digest, const void *bytes, size_t count);
/// Stores the value of the digest (at most 64 bytes, the highest byte of a CRC first) in `out`, and returns its length; 0
/// on failure.
size_t dlm_digest_finish(struct dlm_digest *digest, uint8_t *out);
void dlm_digest_free(struct dlm_digest *digest);
/// Returns 1 if the Ed25519 signature (64 bytes) of the bytes was made with the key (32 bytes), and 0 if it was not.
/// Returns -1 if OpenSSL cannot tell.
int dlm_ed25519_fits(const uint8_t *key, const uint8_t *signature, const void *bytes, size_t count);

/// Makes all threads allocate from one arena (mallopt(3)). By default each thread may have its own arena, which
/// reserves up to 128 MiB of addresses.
void dlm_use_one_arena(void);
/// Sets how malloc uses memory (mallopt(3)). The threads share at most three arenas. This costs no time that can be
/// measured. With an arena for each thread, 50,000 files take 5 MiB more. The process keeps up to 4 MiB of free memory
/// at the end of an arena for its next transfers. By default free memory is given back sooner, and each transfer causes
/// page faults again.
void dlm_set_up_memory(void);
/// Returns 1 if the peer has ended the OpenSSL session `ssl` with close_notify.
int dlm_tls_was_closed(const void *ssl);
/// Copies the decrypted bytes that the OpenSSL session `ssl` holds and that nobody has read yet, without reading from
/// its socket. Returns their number.
int dlm_tls_unread(void *ssl, void *bytes, int capacity);
/// Stores the names of the protocol version and the cipher of the OpenSSL session `ssl`. Returns 0 if they are not
/// known.
int dlm_tls_names(const void *ssl, const char **version, const char **cipher);

/// Removes the pages of code and constants from the memory of the process. Pages that are needed again come from the
/// page cache. The start of the program uses many pages that are never needed again, mainly the tables of Swift's
/// types.
void dlm_forget_code(void);

#endif
