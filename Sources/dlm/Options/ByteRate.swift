import ArgumentParser

/// A speed in bytes per second: `500k`, `2M`, `1.5GiB` (1024-based, as in curl and wget), or `none`.
struct ByteRate: Equatable {
    /// Nil for none.
    let limit: Int64?

    init(argument: String) throws {
        if argument.lowercased() == "none" {
            limit = nil
            return
        }
        guard let match = argument.wholeMatch(of: /([0-9]+(?:\.[0-9]+)?)([kKmMgG]?)(?:i?B)?(?:\/s)?/),
            let number = Double(match.1)
        else { throw Self.failure }
        let factors: [String: Double] = ["k": 0x400, "m": 0x100000, "g": 0x40000000]
        let bytes = number * (factors[match.2.lowercased()] ?? 1)
        guard bytes >= 1, bytes <= Self.largest else { throw Self.failure }
        limit = Int64(bytes)
    }

    private static let largest = 1e15
    private static let failure = ValidationError("give a speed such as 500k, 2M, 1.5GiB or none")
}

extension ByteRate: CustomStringConvertible {
    var description: String { Self.text(limit) }

    static func text(_ limit: Int64?) -> String { limit.map { Units.rate(Double($0)) } ?? "none" }
}
