import ArgumentParser
import DownloadKit
import DownloadStoragePostgres

/// The value of `--store`: the place of a shared queue. The value is checked after it was read, because the parser's
/// own messages repeat a wrong value, and the value may contain a password.
struct QueueArgument: Equatable, Sendable {
    private let text: String

    init(argument: String) { text = argument }

    /// - Throws: an error that says why the value is not the place of a queue.
    var location: QueueLocation {
        get throws {
            do throws(QueueLocation.Failure) {
                return try QueueLocation(text)
            } catch {
                switch error {
                case .otherScheme:
                    throw ValidationError("--store: give a PostgreSQL database, such as postgres://user@host/database")
                case .holdsPassword:
                    throw ValidationError(
                        "--store: the URL must hold no password, which others could see; set PGPASSWORD, or put it into "
                            + "~/.pgpass")
                }
            }
        }
    }
}

/// The options of commands that pause and resume.
struct QueueHostOptions: ParsableArguments {
    @OptionGroup var queue: QueueOptions

    @Option(help: ArgumentHelp("With --store: only the URLs of this host.", valueName: "name"))
    var host: String?

    /// Checks the options of a command for a shared queue.
    /// - Parameter resumes: whether failed URLs and numbers can be selected, too.
    /// - Returns: false if the command is not about a shared queue.
    func validate(_ selection: SelectionOptions, resumes: Bool = false) throws -> Bool {
        guard queue.store != nil else {
            if host != nil { throw ValidationError("--host selects a host of a queue; give --store, too") }
            return false
        }
        let states = selection.group.state
        let isPossible = states.isEmpty || resumes && states == [.failed]
        let count = [host != nil, selection.group.all, !states.isEmpty, !selection.ids.isEmpty].count { $0 }
        guard isPossible, resumes || selection.ids.isEmpty, count == 1 else {
            throw ValidationError(
                "--store: give one of " + (resumes ? "--all, --host, --state failed and numbers" : "--all and --host"))
        }
        return true
    }
}

/// The options of commands that show or change either the downloads of this machine or a shared queue.
struct QueueOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "Use the shared queue in this PostgreSQL database instead of the downloads of this machine; see dlm work.",
            valueName: "url"),
        transform: QueueArgument.init(argument:))
    var store: QueueArgument?

    func validate() throws { _ = try store?.location }
}
