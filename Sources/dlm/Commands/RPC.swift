import ArgumentParser
import DownloadKit
import DownloadRPC

/// `dlm rpc`: the HTTP server of the background session.
struct RPC: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "rpc",
        abstract: "Print the secret of the HTTP server, or open its page.",
        discussion: """
            dlm daemon start --rpc serves aria2's RPC at /jsonrpc, a web page at / and dlm's own API at /v1. Programs and \
            the page show a secret, which is made at the first start and kept in rpc-secret in the state folder.
            """,
        subcommands: [Secret.self, Open.self])

    /// `dlm rpc secret`
    struct Secret: ContextCommand {
        static let configuration = CommandConfiguration(
            commandName: "secret", abstract: "Print the secret, for the settings of other programs.",
            discussion: "Delete rpc-secret in the state folder for a new one, and start the background session again.")

        @Flag(help: "Print the token that reads /metrics, and nothing else, instead.")
        var metrics = false

        func run(in context: Context) async throws -> Int32 {
            let folder = try SessionConfiguration.stateFolder(environment: context.environment)
            let secret = try RPCSecret.load(from: folder)
            guard let text = metrics ? secret.metricsToken : secret.text else {
                throw DownloadError.unexpected("OpenSSL here has no SHA-256, which the token is made with")
            }
            context.console.print(text)
            return 0
        }
    }

    /// `dlm rpc open`
    struct Open: ContextCommand {
        static let configuration = CommandConfiguration(
            commandName: "open", abstract: "Open the page in the browser, with the secret.",
            discussion: """
                The browser is given a file of the state folder that leads to the page, so that the secret is in no list of \
                processes. Without xdg-open, or where the browser cannot read that file, the address is printed; the page \
                asks for the secret.
                """)

        func run(in context: Context) async throws -> Int32 {
            let folder = try SessionConfiguration.stateFolder(environment: context.environment)
            let session = try BackgroundSession(environment: context.environment, time: context.time)
            defer { session.directory.close() }
            guard session.isAlive, let address = RPCServer.runningAddress(in: folder) else {
                throw DownloadError.sessionUnavailable(
                    .startFailed(message: "the background session serves no page; run: dlm daemon start --rpc"))
            }
            let file = try RPCServer.makeDoor(in: folder, to: address, try RPCSecret.load(from: folder))
            context.console.print(address)
            do {
                try BrowserProcess.open(file, environment: context.environment)
            } catch {
                context.console.report("no browser was opened: \(error)")
            }
            return 0
        }
    }
}
