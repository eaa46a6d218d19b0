import ArgumentParser
import DownloadKit

/// How many connections a file has: `1` to `64`, or `auto`.
struct ConnectionCount: Equatable {
    let number: Int

    init(argument: String) throws {
        if argument.lowercased() == "auto" {
            number = DownloadRequest.automaticConnections
        } else if let number = Int(argument), (1...64).contains(number) {
            self.number = number
        } else {
            throw ValidationError("give 1 to 64 connections, or auto")
        }
    }
}
