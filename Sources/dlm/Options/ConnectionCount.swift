import ArgumentParser
import DownloadKit

/// The number of connections for a file: `1` to `64`, `auto`, or `auto:N`. With `auto`, dlm opens more connections as
/// long as they raise the speed; with `auto:N` it opens at most N.
struct ConnectionCount: Equatable {
    let number: Int

    init(argument: String) throws {
        let words = argument.lowercased().split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
        if words == ["auto"] {
            number = DownloadRequest.automaticConnections
        } else if words.first == "auto", let limit = Int(words[1]), (1...64).contains(limit) {
            number = DownloadRequest.automaticConnections(upTo: limit)
        } else if let number = Int(argument), (1...64).contains(number) {
            self.number = number
        } else {
            throw ValidationError("give 1 to 64 connections, auto, or auto:N for at most N")
        }
    }
}
