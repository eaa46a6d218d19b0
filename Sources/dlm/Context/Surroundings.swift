import CSystem
import DownloadKit
import Glibc

/// What the caller of this process left it: limits and the mask of modes.
enum Surroundings {
    /// Enough for the threads, the store, the control API and a few connections. Libraries end the process where they
    /// find none for their event queues.
    static let descriptorsNeeded = 32

    /// Whatever the umask is: a partial file or a store that its own user may not open is lost at the next start.
    static func keepOwnFilesReadable() {
        let mask = umask(0)
        umask(mask & ~0o700)
    }

    /// Gives the process a home folder where its environment has none, as for `env -i` and some cron jobs: that of the
    /// user's entry in the password database. Must run before other threads do, and before the environment is read.
    static func findHome() {
        guard let home = home(inEnvironment: getenv("HOME").map { String(cString: $0) }, entry: passwordEntryHome())
        else {
            return
        }
        setenv("HOME", home, 1)
    }

    /// Returns the home folder to set, or nil where the environment's own counts or none is known. A relative one stays:
    /// somebody set it, and what cannot work with it says so.
    static func home(inEnvironment given: String?, entry: String?) -> String? {
        guard given ?? "" == "", let entry, entry.hasPrefix("/") else { return nil }
        return entry
    }

    private static func passwordEntryHome() -> String? {
        // The lookup may load modules of the C library (nsswitch.conf); most processes have a home.
        guard getenv("HOME").map({ $0.pointee == 0 }) ?? true else { return nil }
        return getpwuid(geteuid()).flatMap { $0.pointee.pw_dir }.map { String(cString: $0) }
    }

    /// Why nothing can be done here, in one line; nil where dlm can work.
    static func fault() -> String? {
        raiseDescriptorLimit()
        guard FreeDescriptors.has(descriptorsNeeded) else {
            return "too few open files are allowed: \(descriptorsNeeded) more are needed; raise the limit (ulimit -n)"
        }
        guard hasAddressSpace() else {
            return
                "too little memory is allowed: \(addressSpaceNeeded >> 20) MiB more are needed; raise the limit (ulimit -v)"
        }
        return nil
    }

    /// Up to what the kernel gives without privileges; each connection needs one.
    private static func raiseDescriptorLimit() {
        var limit = rlimit()
        guard getrlimit(Int32(RLIMIT_NOFILE.rawValue), &limit) == 0, limit.rlim_cur < limit.rlim_max else { return }
        limit.rlim_cur = limit.rlim_max
        setrlimit(Int32(RLIMIT_NOFILE.rawValue), &limit)
    }

    /// Stacks of the threads that may come, and what they work on. Where none can be made any more, libdispatch waits for
    /// ever, and Swift ends the process where memory is missing.
    static var addressSpaceNeeded: Int {
        var stack = rlimit()
        getrlimit(Int32(RLIMIT_STACK.rawValue), &stack)
        let size = min(Int(clamping: stack.rlim_cur), 64 << 20)
        return 128 << 20 + (16 + sysconf(Int32(_SC_NPROCESSORS_ONLN))) * size
    }

    /// Only where there is a limit: the kernel's promise costs nothing, and is not kept.
    private static func hasAddressSpace() -> Bool {
        var limit = rlimit()
        getrlimit(Int32(RLIMIT_AS.rawValue), &limit)
        guard limit.rlim_cur != rlim_t.max else { return true }
        dlm_use_one_arena()
        let room = mmap(nil, addressSpaceNeeded, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0)
        guard let room, room != MAP_FAILED else { return false }
        munmap(room, addressSpaceNeeded)
        return true
    }
}
