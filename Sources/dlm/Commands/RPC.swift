import ArgumentParser
import DownloadKit
import DownloadRPC
import Foundation
import Glibc

struct RPC: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "rpc",
        abstract: "Print the secret of the HTTP server, or open its web page.",
        discussion: """
            dlm daemon start --rpc serves aria2's RPC at /jsonrpc, a web page at / and dlm's own API at /v1. The RPC \
            and the API require a secret, which the page asks for. It is created at the first start and kept in the \
            file rpc-secret in the state folder.
            """,
        subcommands: [Secret.self, Open.self])

    struct Secret: ContextCommand {
        static let configuration = CommandConfiguration(
            commandName: "secret", abstract: "Print the secret, to be entered in other programs.",
            discussion: "For a new secret, delete rpc-secret in the state folder and restart the background session.")

        @Flag(help: "Instead of the secret, print the token that can only read /metrics.")
        var metrics = false

        func run(in context: Context) async throws -> Int32 {
            let folder = try SessionConfiguration.stateFolder(environment: context.environment)
            let secret = try RPCSecret.load(from: folder)
            guard let text = metrics ? secret.metricsToken : secret.text else {
                throw DownloadError.unexpected("the OpenSSL library has no SHA-256, which the token is made with")
            }
            context.console.print(text)
            return 0
        }
    }

    struct Open: ContextCommand {
        static let configuration = CommandConfiguration(
            commandName: "open", abstract: "Open the web page in the browser, with the secret.",
            discussion: """
                The browser opens a file in the state folder that leads to the page. So the list of processes does not \
                show the secret. Without xdg-open, or if the browser cannot read the file, open the printed address; \
                the page then asks for the secret.
                """)

        func run(in context: Context) async throws -> Int32 {
            let folder = try SessionConfiguration.stateFolder(environment: context.environment)
            let session = try BackgroundSession(environment: context.environment, time: context.time)
            defer { session.directory.close() }
            guard session.isAlive, let address = RPCServer.runningAddress(in: folder) else {
                throw DownloadError.sessionUnavailable(
                    .startFailed(message: "the background session serves no web page; run: dlm daemon start --rpc"))
            }
            let file = try RPCServer.makeDoor(in: folder, to: address, try RPCSecret.load(from: folder))
            context.console.print(address)
            do throws(UserProgram.StartFailure) {
                try BrowserProcess.open(file, environment: context.environment)
            } catch {
                context.console.report("no browser was opened: \(error.text)")
            }
            return 0
        }
    }
}

/// The desktop's program for a file, started by xdg-open(1).
enum BrowserProcess {
    static func open(_ file: String, environment: [String: String]) throws(UserProgram.StartFailure) {
        guard let program = environment.program("xdg-open") else {
            throw UserProgram.StartFailure(text: "there is no xdg-open; open the address yourself")
        }
        let null = Glibc.open("/dev/null", O_RDWR | O_CLOEXEC)
        defer { if null >= 0 { close(null) } }
        do throws(UserProgram.StartFailure) {
            _ = try UserProgram.start(
                program, [file], environment: environment, folder: "/", input: "", outputs: (null, null))
        } catch {
            throw UserProgram.StartFailure(text: "\(program): \(error.text)")
        }
    }
}
