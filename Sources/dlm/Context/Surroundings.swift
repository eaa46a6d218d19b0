import CSystem
import DownloadKit
import Glibc

/// The state that this process inherits from its caller: resource limits, the umask and the home folder.
enum Surroundings {
    /// The number of free file descriptors that dlm needs for its threads, the store and a few connections. Some
    /// libraries end the process when they get no descriptor for their event queues. With 20, a file over eight
    /// connections and a list were fetched; the control API may be missing then.
    static let descriptorsNeeded = 20
    /// The number for the background session, which also has its two servers and their clients.
    static let descriptorsOfDaemon = 30

    /// Removes the user's own permissions from the umask, so that new files are open to their own user. Otherwise the
    /// next start could not open a partial file or the store.
    static func keepOwnFilesReadable() {
        let mask = umask(0)
        umask(mask & ~0o700)
    }

    /// Sets `HOME` from the user's entry in the password database if the environment has no `HOME`, as under `env -i`
    /// and in some cron jobs. It must be called before other threads start, and before the environment is read.
    static func findHome() {
        let given = getenv("HOME").map { String(cString: $0) }
        let home = home(inEnvironment: given) {
            getpwuid(geteuid()).flatMap { $0.pointee.pw_dir }.map { String(cString: $0) }
        }
        guard let home else { return }
        setenv("HOME", home, 1)
    }

    /// Returns the home folder to set. Returns nil if the environment has a `HOME`, or if no home folder is known. A
    /// relative `HOME` is not replaced, because the caller set it. Code that cannot use a relative path reports an
    /// error. The entry is looked up only if it is needed, because the lookup may load modules of the C library
    /// (nsswitch.conf).
    static func home(inEnvironment given: String?, entry: () -> String?) -> String? {
        guard given ?? "" == "", let entry = entry(), entry.hasPrefix("/") else { return nil }
        return entry
    }

    /// Raises the limit of open files. Returns a line that says why dlm cannot work under its limits, or nil if it can.
    static func fault() -> String? {
        // Swift reads the arguments from there.
        guard CommandLine.argc > 0 else { return "/proc is not mounted, so no arguments can be read; mount it" }
        FreeDescriptors.raiseLimit()
        guard FreeDescriptors.has(descriptorsNeeded) else {
            return tooFewFiles(descriptorsNeeded)
        }
        guard hasAddressSpace() else {
            return
                "too little memory is allowed: \(addressSpaceNeeded >> 20) MiB more are needed; raise the limit (ulimit -v)"
        }
        return nil
    }

    static func tooFewFiles(_ needed: Int) -> String {
        "too few open files are allowed: \(needed) more are needed; raise the limit (ulimit -n)"
    }

    /// The address space that dlm needs, in bytes: the stacks of all threads that may start, and their memory. If no
    /// thread can be started, libdispatch waits forever. If there is too little memory, Swift ends the process.
    static var addressSpaceNeeded: Int {
        var stack = rlimit()
        getrlimit(Int32(RLIMIT_STACK.rawValue), &stack)
        let size = min(Int(clamping: stack.rlim_cur), 64 << 20)
        return 128 << 20 + (16 + sysconf(Int32(_SC_NPROCESSORS_ONLN))) * size
    }

    /// Returns whether the address space that dlm needs can be reserved, which uses no memory.
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

extension [String: String] {
    func has(_ name: String) -> Bool { !(self[name] ?? "").isEmpty }

    /// Whether a multiplexer such as tmux is between dlm and the terminal. It passes on the environment of the
    /// terminal, but not all of its control sequences.
    var hasMultiplexer: Bool { has("TMUX") || has("STY") || has("ZELLIJ") }
}
