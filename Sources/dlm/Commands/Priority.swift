import ArgumentParser
import DownloadKit
import Foundation

struct Priority: ContextCommand {
    static let configuration = CommandConfiguration(
        commandName: "priority",
        abstract: "Change the order in which downloads start.",
        discussion: """
            A download with a higher priority starts earlier. The default priority is 0; -5 is lower. Running downloads \
            are not affected. --all selects all unfinished downloads.
            """)

    // The parser reads a negative number as an unknown option. With `allUnrecognized`, such words become arguments.
    @Argument(
        parsing: .allUnrecognized,
        help: ArgumentHelp("The priority, then the numbers of downloads, such as 3 or 5-8.", valueName: "n> <id"),
        completion: DownloadCompletion.ids)
    var words: [String]

    @OptionGroup var group: GroupOptions
    @OptionGroup(title: "Output") var output: OutputOptions

    func validate() throws { _ = try parsed() }

    func run(in context: Context) async throws -> Int32 {
        let (priority, chosen) = try parsed()
        return try await Changing(context: context, output: output, event: "changed", text: "priority \(priority)")
            .apply(.priority(priority), to: chosen) { snapshot in
                snapshot.record.request.priority == priority ? "has priority \(priority) already" : "left as it is"
            }
    }

    private func parsed() throws -> (priority: Int, chosen: Chosen) {
        if let option = words.first(where: { $0.hasPrefix("-") && Int($0) == nil }) {
            throw ValidationError("Unknown option '\(option)'")
        }
        guard let first = words.first, let priority = Int(first),
            (-Self.largest...Self.largest).contains(priority)
        else {
            throw ValidationError("the value '\(words.first ?? "")' is not a priority; give a number such as 5 or -5")
        }
        let ranges = try words.dropFirst().map { word in
            do {
                return try IDRange(argument: word)
            } catch {
                throw ValidationError("the value '\(word)' is invalid for '<id>': \(error)")
            }
        }
        guard ranges.isEmpty != group.isEmpty else { throw ValidationError(GroupOptions.choice) }
        let states = group.state.isEmpty ? List.unfinished : Set(group.state)
        return (priority, ranges.isEmpty ? .states(states) : .ids(ranges.ids))
    }

    private static let largest = 1_000_000
}
