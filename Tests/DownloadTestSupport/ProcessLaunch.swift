import CTestSupport
import DownloadCore
import DownloadSystem
import Foundation

/// A program to start, and its surroundings. The program inherits nothing from the test except what is named here.
package struct ProcessLaunch: Sendable, CustomStringConvertible {
    package var executable: String
    package var arguments: [String] = []
    package var environment: [String: String] = [:]
    package var folder = "/"
    /// The standard input. Nil means an empty input.
    package var input: String?
    /// The width of the terminal that is standard input and standard error. Nil means no terminal.
    package var terminalColumns: Int?
    /// Whether standard output is the terminal, too. Otherwise it stays a pipe.
    package var outputIsTerminal = false
    /// A descriptor that becomes descriptor 3 of the program. The caller's descriptor stays open.
    package var passed: Int32?
    package var watchesMemory = false
    /// The time after which the program is killed and its test fails.
    package var timeLimit = Duration.seconds(60)

    package init(_ executable: String, _ arguments: [String] = []) {
        self.executable = executable
        self.arguments = arguments
    }

    package var description: String { ([executable] + arguments).joined(separator: " ") }

    struct Spawned {
        let pid: pid_t
        /// The descriptor that the parent reads.
        let stdout: Int32
        let stderr: Int32
        /// The modes of the terminal before the program; nil without a terminal.
        var modes: [tcflag_t]?
    }

    /// Returns the flags that say how a terminal reads and writes; nil if it is no terminal.
    static func modes(_ terminal: Int32) -> [tcflag_t]? {
        var settings = termios()
        guard tcgetattr(terminal, &settings) == 0 else { return nil }
        return [settings.c_iflag, settings.c_oflag, settings.c_lflag]
    }

    /// Starts the program. With a terminal, its output on the terminal is read from `stderr`.
    func spawn() throws -> Spawned {
        let input = try openInput()
        defer { close(input) }
        let output = try makePipe()
        defer { close(output.write) }
        guard let terminalColumns else {
            let errors = try makePipe()
            defer { close(errors.write) }
            let pid = try start((input, output.write, errors.write), terminal: nil)
            return Spawned(pid: pid, stdout: output.read, stderr: errors.read)
        }
        var name = [CChar](repeating: 0, count: 128)
        let master = dlmtest_open_terminal(Int32(terminalColumns), &name, name.count)
        guard master >= 0 else { throw SystemError("open a terminal") }
        let modes = Self.modes(master)
        let pid = try start((input, outputIsTerminal ? -1 : output.write, -1), terminal: name)
        return Spawned(pid: pid, stdout: output.read, stderr: master, modes: modes)
    }

    private func start(_ descriptors: (Int32, Int32, Int32), terminal: [CChar]?) throws -> pid_t {
        let words = ([executable] + arguments).map { strdup($0) } + [nil]
        let settings = environment.map { strdup("\($0)=\($1)") } + [nil]
        let name = terminal.flatMap { strdup($0) }
        let directory = strdup(folder)
        defer { for text in words + settings + [name, directory] { free(text) } }
        var pid: pid_t = 0
        let error = words.withUnsafeBufferPointer { words in
            settings.withUnsafeBufferPointer { settings in
                var launch = dlmtest_launch(
                    arguments: words.baseAddress, environment: settings.baseAddress, folder: directory,
                    descriptors: descriptors, terminal: name, passed: passed ?? -1)
                // `alone` keeps partial files from being closed meanwhile. Otherwise the new process could be the last
                // to close such a file.
                return WriterWatch.shared.withoutClosing { dlmtest_spawn(executable, &launch, &pid) }
            }
        }
        guard error == 0 else { throw SystemError("start \(executable)", code: error) }
        return pid
    }

    /// Opens the input as a file without a name, because it may be larger than a pipe holds.
    private func openInput() throws -> Int32 {
        guard let input else { return open("/dev/null", O_RDONLY | O_CLOEXEC) }
        let descriptor = try TemporaryFolder.unnamedFile()
        let file = FileHandle(fileDescriptor: descriptor, closeOnDealloc: false)
        try file.write(contentsOf: Data(input.utf8))
        try file.seek(toOffset: 0)
        return descriptor
    }

    private func makePipe() throws -> (read: Int32, write: Int32) {
        var ends: [Int32] = [0, 0]
        guard pipe(&ends) == 0 else { throw SystemError("pipe") }
        return (ends[0], ends[1])
    }
}
