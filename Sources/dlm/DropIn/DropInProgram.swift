import DownloadKit
import Glibc

/// A program that dlm can replace. If dlm is called by the name of such a program, it accepts the program's options for
/// downloads.
enum DropInProgram: String, CaseIterable, Sendable {
    case aria2c, wget, curl

    /// Returns nil if the word is not the name of one of these programs.
    /// - Parameter word: The first word of a command line, with or without folders.
    init?(calledAs word: String) {
        guard let name = word.split(separator: "/").last else { return nil }
        self.init(rawValue: String(name))
    }

    var options: [DropInOption] {
        switch self {
        case .aria2c: DropInOption.aria2c
        case .wget: DropInOption.wget
        case .curl: DropInOption.curl
        }
    }

    var usageStatus: Int32 {
        switch self {
        case .aria2c: 28
        case .wget, .curl: 2
        }
    }

    /// Returns the path of the real program, if PATH has one.
    /// - Parameter path: The value of PATH.
    func original(in path: String?) -> String? {
        for folder in (path ?? "/usr/bin:/bin").split(separator: ":") where folder.hasPrefix("/") {
            let file = "\(folder)/\(rawValue)"
            if access(file, X_OK) == 0, !FileStatus.areSame(file, "/proc/self/exe") { return file }
        }
        return nil
    }
}

/// A command line of another program that dlm cannot follow.
struct DropInFailure: Error, Equatable {
    let program: DropInProgram
    private let text: String
    /// Whether the real program may accept the command line, so that the message names this program.
    private let needsOriginal: Bool

    /// - Parameters:
    ///   - option: The option as the user wrote it.
    ///   - why: The feature that dlm lacks, or the reason why the value is wrong.
    init(_ program: DropInProgram, _ option: String, _ why: String) {
        (self.program, text, needsOriginal) = (program, "\(option): \(why)", true)
    }

    init(_ program: DropInProgram, _ message: String) {
        (self.program, text, needsOriginal) = (program, message, false)
    }

    /// - Parameter path: The value of PATH.
    func message(path: String?) -> String {
        let message = "\(program.rawValue): \(text)"
        if !needsOriginal { return message }
        return message + "; "
            + (program.original(in: path).map { "run \($0) instead" } ?? "use the real \(program.rawValue) instead")
    }
}
