import ArgumentParser
import DownloadKit
import Glibc

/// `-o -`: writes the body, and nothing else, to standard output. The download is not recorded.
extension Get {
    var streams: Bool { item.place.output == DestinationOptions.stream }

    func validateStream() throws {
        guard streams else { return }
        func refuse(_ what: String) -> ValidationError { ValidationError("-o -: \(what)") }
        if background { throw refuse("the background session has no standard output; leave out -b") }
        if output.json { throw refuse("standard output is for the file; leave out --json") }
        if item.place.directory != nil { throw refuse("standard output is in no folder; leave out -d") }
        if item.place.continues { throw refuse("there is nothing to continue; leave out -c") }
        if item.mirrors.repair { throw refuse("there is nothing to repair; leave out --repair") }
        if !item.mirrors.mirror.isEmpty { throw refuse("only one source can be used; leave out --mirror") }
        if let number = item.count.connections?.number, number > 1 {
            throw refuse("only one connection can be used; leave out -x")
        }
    }

    /// Returns the kind of session that this command needs.
    /// - Throws: ``DownloadError/fileFailed(_:path:)`` if the file should go to standard output, which is closed.
    func kind(_ console: Console) throws -> SessionConfiguration.Kind {
        guard streams else { return ephemeral ? .ephemeral : .foreground }
        if console.outputIsMissing {
            throw DownloadError.fileFailed(.system(operation: "write", errno: EBADF), path: StreamOutput.description)
        }
        return .stream(descriptor: STDOUT_FILENO)
    }
}
