import ArgumentParser

/// `dlm daemon`: runs, starts, stops or shows the background session.
struct Daemon: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "daemon",
        abstract: "Start, stop, run or inspect the background session.",
        discussion: """
            The background session downloads what dlm get -b hands to it, without a terminal. At its next start it \
            continues whatever was interrupted. There is one session for each state folder, and dlm get -b starts it \
            on demand.
            """,
        subcommands: [Run.self, Start.self, Stop.self, Status.self])
}
