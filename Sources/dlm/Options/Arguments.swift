import ArgumentParser
import DownloadKit
import Foundation

/// A duration in seconds: `30`, `30s`, `5m`, `2h`, `30d`, `1.5`.
struct Seconds: ParsedArgument, Equatable, CustomStringConvertible {
    let value: Double

    init(_ value: Double) { self.value = value }

    init(argument: String) throws {
        let factors: [Character: Double] = ["s": 1, "m": 60, "h": 3600, "d": 86400]
        var digits = argument[...]
        var factor = 1.0
        if let last = digits.last, let known = factors[last] {
            factor = known
            digits.removeLast()
        }
        guard let first = digits.first, first != ".", digits.allSatisfy({ "0123456789.".contains($0) }),
            let number = Double(digits), number * factor <= 1e9
        else { throw ValidationError("give a time such as 30, 1.5s, 5m, 2h or 30d") }
        value = number * factor
    }

    /// The number of seconds without a unit.
    var description: String { value == value.rounded() ? String(Int(value)) : String(value) }
}

/// A number of bytes: `500k`, `2M`, `1.5GiB` (1024-based, as in curl and wget).
struct ByteSize: ParsedArgument, Equatable {
    let bytes: Int64

    init(argument: String) throws {
        guard let size = Self(argument.lowercased()[...]) else {
            throw ValidationError("give a size such as 500k, 2M or 1.5GiB")
        }
        self = size
    }

    /// - Parameter text: the size in lower case.
    fileprivate init?(_ text: Substring) {
        guard let match = text.wholeMatch(of: /([0-9]+(?:\.[0-9]+)?)([kmgt]?)(?:i?b)?/), let number = Double(match.1)
        else { return nil }
        let factors: [Substring: Double] = ["k": 0x1p10, "m": 0x1p20, "g": 0x1p30, "t": 0x1p40]
        let bytes = number * (factors[match.2] ?? 1)
        guard bytes <= 1e15 else { return nil }
        self.bytes = Int64(bytes)
    }
}

/// A speed in bytes per second: `500k`, `2M`, `1.5GiB` (1024-based, as in curl and wget), or `none`.
struct ByteRate: ParsedArgument, Equatable, CustomStringConvertible {
    /// The greatest speed in bytes per second; nil for no limit.
    let limit: Int64?

    init(argument: String) throws {
        let text = argument.lowercased()
        if ["none", "0"].contains(text) {
            limit = nil
            return
        }
        guard let size = ByteSize(text.hasSuffix("/s") ? text.dropLast(2) : text[...]), size.bytes > 0 else {
            throw ValidationError("give a speed such as 500k, 2M, 1.5GiB or none")
        }
        limit = size.bytes
    }

    var description: String { Self.text(limit) }

    static func text(_ limit: Int64?) -> String { limit.map { Units.rate(Double($0)) } ?? "none" }
}

/// Download ids as they are written: `3`, or the range `5-8`.
struct IDRange: Equatable {
    let ids: ClosedRange<DownloadID>

    init(argument: String) throws {
        let parts = argument.split(separator: "-", maxSplits: 1, omittingEmptySubsequences: false)
        guard let first = Self.number(parts[0]), let last = parts.count == 2 ? Self.number(parts[1]) : first,
            first <= last, last - first < Self.largest
        else { throw ValidationError("give a number such as 3, or a range such as 5-8") }
        ids = first...last
    }

    /// The most ids in one range. A longer range is refused, because it is probably a typing error.
    private static let largest: DownloadID = 1_000_000

    private static func number(_ text: Substring) -> DownloadID? {
        guard text.utf8.allSatisfy(\.isDigit), let number = DownloadID(text), number > 0 else {
            return nil
        }
        return number
    }
}

extension [IDRange] {
    /// The ids in the given order, each one once.
    var ids: [DownloadID] {
        var seen = Set<DownloadID>()
        return flatMap(\.ids).filter { seen.insert($0).inserted }
    }
}

extension Destination.IfExists: ExpressibleByArgument {}
extension DownloadState.Kind: ExpressibleByArgument {}

/// The values of `--color`.
enum ColorChoice: String, ExpressibleByArgument, CaseIterable {
    case auto, always, never
}

/// The values of `--progress`.
enum ProgressChoice: String, ExpressibleByArgument, CaseIterable {
    case auto, bar, plain, json, none
}

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
