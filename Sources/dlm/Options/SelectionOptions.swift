import ArgumentParser
import DownloadKit
import Foundation

/// The arguments that select the downloads of a command.
struct SelectionOptions: ParsableArguments {
    @Argument(
        help: ArgumentHelp("Numbers of downloads, such as 3 or 5-8.", valueName: "id"),
        completion: DownloadCompletion.ids, transform: IDRange.init(argument:))
    var ids: [IDRange] = []

    @OptionGroup var group: GroupOptions

    var isEmpty: Bool { ids.isEmpty && group.isEmpty }

    func validate() throws {
        if !ids.isEmpty, !group.isEmpty { throw ValidationError(GroupOptions.choice) }
    }

    /// Throws if no downloads are selected. Commands that need downloads call this method.
    func require() throws {
        if isEmpty { throw ValidationError(GroupOptions.choice) }
    }

    /// - Parameter all: the states that `--all` selects for this command.
    func chosen(all: Set<DownloadState.Kind>) -> Chosen {
        ids.isEmpty ? .states(group.state.isEmpty ? all : Set(group.state)) : .ids(ids.ids)
    }
}

/// The options that select downloads without naming them one by one.
struct GroupOptions: ParsableArguments {
    static let choice = "give the numbers of downloads, --all or --state"

    @Flag(help: "Select all downloads that this command can change or follow.")
    var all = false

    @Option("Select all downloads in this state; repeatable.", value: "state", parsing: .singleValue)
    var state: [DownloadState.Kind] = []

    var isEmpty: Bool { !all && state.isEmpty }
}
