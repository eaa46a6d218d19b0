import ArgumentParser
import DownloadKit

extension DownloadRequest.Connections: ParsedArgument {
    init(argument: String) throws {
        let words = argument.lowercased().split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
        if words == ["auto"] {
            self = .automatic
        } else if words.first == "auto", let limit = Int(words[1]), Self.possible.contains(limit) {
            self = .upTo(limit)
        } else if let number = Int(argument), Self.possible.contains(number) {
            self = .fixed(number)
        } else {
            throw ValidationError("give 1 to 64 connections, auto, or auto:N for at most N")
        }
    }
}
