import ArgumentParser

/// Bytes per second as they are written: `500k`, `2M`, `1.5GiB` (1024-based, as in curl and wget), `none`.
struct ByteRate: Equatable {
    /// 0 for no limit.
    let bytesPerSecond: Int64

    /// For the parser's `transform`: the error becomes the end of its message.
    init(argument: String) throws {
        let text = argument.lowercased()
        if text == "none" {
            bytesPerSecond = 0
            return
        }
        guard let match = text.wholeMatch(of: /([0-9]+(?:\.[0-9]+)?)([kmgt]?)(?:i?b)?/), let number = Double(match.1),
            let power = ["", "k", "m", "g", "t"].firstIndex(of: String(match.2))
        else { throw Self.malformed }
        var bytes = number
        for _ in 0..<power { bytes *= 1024 }
        guard bytes < 1e18 else { throw Self.malformed }
        bytesPerSecond = Int64(bytes)
        if bytesPerSecond == 0, number > 0 { throw Self.malformed }
    }

    private static var malformed: ValidationError {
        ValidationError("give bytes per second such as 500k, 2M or 1.5GiB, or none")
    }
}
