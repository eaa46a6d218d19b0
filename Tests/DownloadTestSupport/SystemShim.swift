import Foundation

/// A library that is loaded into a program before the C library (LD_PRELOAD): its wall clock can be set at any time, and
/// its partial files meet a quota.
package struct SystemShim: Sendable {
    private let folder: TemporaryFolder
    private let library: String
    private let clock: String

    /// Nil where there is no C compiler.
    package init?() async throws {
        let compilers = ["/usr/bin/cc", "/usr/bin/clang", "/usr/bin/gcc"]
        guard let compiler = compilers.first(where: { access($0, X_OK) == 0 }) else { return nil }
        folder = try TemporaryFolder()
        library = folder("shim.so")
        clock = folder("clock")
        try folder.write(Self.source, to: "shim.c")
        var launch = ProcessLaunch(compiler, ["-shared", "-fPIC", "-O1", "-o", library, folder("shim.c"), "-ldl"])
        launch.environment = ["PATH": "/usr/bin:/bin"]
        let result = try await ChildProcess(launch).result()
        guard result.ending == .exited(0) else { throw ChildProcess.Failure(description: result.stderr) }
        try setClock(0)
    }

    package func remove() { folder.remove() }

    /// What a program needs in its environment.
    /// - Parameter quota: bytes at which a partial file meets EDQUOT; nil for none.
    package func environment(quota: Int64? = nil) -> [String: String] {
        var environment = ["LD_PRELOAD": library, "DLM_TEST_CLOCK": clock]
        environment["DLM_TEST_QUOTA"] = quota.map { "\($0)" }
        return environment
    }

    /// From now on its clock is so many seconds ahead.
    package func setClock(_ seconds: Int64) throws {
        try Data("\(seconds)\n".utf8).write(to: URL(fileURLWithPath: clock), options: .atomic)
    }

    private static let source = """
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

        static int meets_quota(int fd, size_t count, off_t offset) {
            const char *quota = getenv("DLM_TEST_QUOTA");
            if (!quota || offset + (off_t)count <= atoll(quota)) return 0;
            char link[64], path[4096];
            snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
            ssize_t length = readlink(link, path, sizeof path - 1);
            if (length < 5 || memcmp(path + length - 5, ".part", 5) != 0) return 0;
            errno = EDQUOT;
            return 1;
        }

        ssize_t pwrite(int fd, const void *bytes, size_t count, off_t offset) {
            return meets_quota(fd, count, offset) ? -1 : syscall(SYS_pwrite64, fd, bytes, count, offset);
        }

        ssize_t pwrite64(int fd, const void *bytes, size_t count, off_t offset) {
            return pwrite(fd, bytes, count, offset);
        }
        """
}
