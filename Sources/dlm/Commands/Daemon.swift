import ArgumentParser

/// `dlm daemon`: runs, starts, stops or shows the background session.
struct Daemon: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "daemon",
        abstract: "Run, start, stop or look at the background session.",
        discussion: """
            It downloads what dlm get -b hands to it, without a terminal, and goes on at its next start with whatever \
            was interrupted. There is one for each state folder; dlm get -b starts it when it is needed.
            """,
        subcommands: [Run.self, Start.self, Stop.self, Status.self])
}
