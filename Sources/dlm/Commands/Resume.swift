import ArgumentParser
import DownloadKit
import Foundation

struct Resume: StoreCommand {
    static let configuration = CommandConfiguration(
        commandName: "resume",
        abstract: "Resume downloads that are paused, interrupted or failed.",
        discussion: """
            A download that belongs to the background session continues there, and a download for which a dlm get \
            waits continues in that dlm get. Other downloads run in this command. The command ends when they have \
            ended, and its exit status is theirs. Cancelled downloads are resumed if you give their numbers, or \
            --state cancelled. Secrets are not stored: give them again with -H, -u or --data. --all selects all \
            paused, interrupted and failed downloads.
            """)

    @OptionGroup var selection: SelectionOptions

    @Flag(name: .shortAndLong, help: "Continue in the background session, and return at once.")
    var background = false

    @OptionGroup var renewable: RenewableOptions
    @OptionGroup(title: "Output") var progress: ProgressOptions
    @OptionGroup(title: "Queue") var queue: QueueOptions
    @OptionGroup(title: "Queue") var part: QueueHostOptions
    @OptionGroup(title: "Output") var output: OutputOptions

    func validate() throws { try part.validate(selection, queue, resumes: true) }

    /// Resumes a shared queue or a host of it, or puts failed URLs back into it.
    func run(on queue: QueueCommands) async throws -> Int32 {
        if !selection.ids.isEmpty { return try await queue.retry(selection.ids.ids) }
        if selection.group.state == [.failed] { return try await queue.retry(nil) }
        return try await queue.pause(false, host: part.host)
    }

    func run(here context: Context) async throws -> Int32 {
        var options = renewable
        try options.prepare(in: context)
        var overrides = try options.overrides()
        overrides.inBackground = background
        return try await context.withService { [overrides] service in
            let chosen = selection.chosen(all: List.unfinished)
            // All ids are looked up first, so that an unknown id ends the command before anything is shown or resumed.
            if case .ids(let ids) = chosen {
                for part in ids.parts(of: Follower.chunk) {
                    let known = try await service.known(part)
                    if overrides.trustsFirstUse, known.contains(where: \.record.request.signedBy.isEmpty) {
                        throw TrustOptions.noKeys
                    }
                }
            }
            let following = Following(
                context, output, progress.progress, takesKeys: !background && !renewable.body.readsInput)
            return try await following.follow(service, for: .resume(overrides)) { follower in
                try await service.eachPart(of: chosen) { part in
                    let stopped = part.filter { chosen.isByName || !$0.isAttended || !$0.record.state.kind.isActive }
                    if !stopped.isEmpty { try await follower.resume(stopped) }
                }
            }
        }
    }
}
