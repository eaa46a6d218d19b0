import ArgumentParser
import DownloadKit
import DownloadStoragePostgres

/// The value of `--store`: the place of a shared queue. The value is checked after it was read, because the parser's
/// own messages repeat a wrong value, and the value may contain a password.
struct QueueArgument: ParsedArgument, Equatable {
    private let text: String

    init(argument: String) { text = argument }

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

/// A command about the downloads of this machine or, with `--store`, about a shared queue.
protocol StoreCommand: ContextCommand {
    var queue: QueueOptions { get }
    var output: OutputOptions { get }

    func run(on queue: QueueCommands) async throws -> Int32
    func run(here context: Context) async throws -> Int32
}

extension StoreCommand {
    func run(in context: Context) async throws -> Int32 {
        guard let store = queue.store else { return try await run(here: context) }
        return try await run(on: QueueCommands(store, context, output))
    }
}

struct QueueHostOptions: ParsableArguments {
    @Option("With --store: only the URLs of this host.", value: "name")
    var host: String?

    /// - Parameter resumes: whether failed URLs and numbers of a queue can be selected, too.
    func validate(_ selection: SelectionOptions, _ queue: QueueOptions, resumes: Bool = false) throws {
        if queue.store == nil, host != nil {
            throw ValidationError("--host selects a host of a queue; give --store, too")
        }
        let states = selection.group.state
        let isPossible = states.isEmpty || resumes && states == [.failed]
        let count = [host != nil, selection.group.all, !states.isEmpty, !selection.ids.isEmpty].count { $0 }
        try queue.require(
            selection, orOfQueue: isPossible && (resumes || selection.ids.isEmpty) && count == 1,
            "give one of " + (resumes ? "--all, --host, --state failed and numbers" : "--all and --host"))
    }
}

/// The options of commands that show or change either the downloads of this machine or a shared queue.
struct QueueOptions: ParsableArguments {
    @Option(
        "Use the shared queue in this PostgreSQL database instead of the downloads of this machine; see dlm work.",
        value: "url")
    var store: QueueArgument?

    func validate() throws { _ = try store?.location }

    /// Throws if no downloads are selected, or something that a queue does not support. `advice` names what it does.
    func require(_ selection: SelectionOptions, orOfQueue isPossible: Bool, _ advice: String) throws {
        if store == nil { return try selection.require() }
        if !isPossible { throw ValidationError("--store: \(advice)") }
    }
}
