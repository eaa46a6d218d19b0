import ArgumentParser
import DownloadKit

/// One of the parts into which the URLs of a list are divided. Each part has its own worker.
struct Shard: Equatable, Sendable, CustomStringConvertible {
    /// The number of the part, from 0 to `count` - 1.
    let index: Int
    let count: Int

    /// The greatest number of shards, which is Kubernetes' limit of tasks in one Indexed Job.
    static let largestCount = 100_000

    var description: String { "\(index)/\(count)" }

    /// Returns the number of the shard to which a key belongs. It is the number in the first 8 bytes of the key's
    /// SHA-256 digest (most significant byte first), modulo the number of shards (docs/scale.md). So it is the same on
    /// all machines and in all versions of dlm.
    static func number(of key: String, count: Int) throws(DownloadError) -> Int {
        Int(try TextDigest(key).number % UInt64(count))
    }
}

/// The rule that decides to which shard a URL belongs.
enum ShardRule: String, ExpressibleByArgument, CaseIterable, Sendable {
    /// The digest of the host decides: all URLs of a host are in one shard.
    case host
    /// The position among the URLs of the list, counted from 0, decides: all shards have almost the same number of
    /// URLs.
    case line
    /// The digest of the URL decides: a URL stays in its shard when other URLs are added to the list.
    case url
}

/// The value of `--shard`: a shard, or `auto` to find the shard in the environment.
enum ShardArgument: ParsedArgument, Equatable {
    case fixed(Shard)
    /// `auto` or `auto/N`.
    /// - Parameter count: The number of shards; nil to find the number in the environment, too.
    case automatic(count: Int?)

    private static let failure = ValidationError(
        "give I/N with I from 0 to N-1, such as 0/8, auto, or auto/N; N is at most \(Shard.largestCount)")

    init(argument: String) throws {
        let parts = argument.split(separator: "/", omittingEmptySubsequences: false)
        if argument == "auto" {
            self = .automatic(count: nil)
            return
        }
        guard parts.count == 2, let count = Self.number(parts[1]), (1...Shard.largestCount).contains(count) else {
            throw Self.failure
        }
        if parts[0] == "auto" {
            self = .automatic(count: count)
        } else {
            guard let index = Self.number(parts[0]), index < count else { throw Self.failure }
            self = .fixed(Shard(index: index, count: count))
        }
    }

    private static func number(_ text: Substring) -> Int? {
        text.utf8.allSatisfy(\.isDigit) ? Int(text) : nil
    }

    func shard(in environment: [String: String]) throws -> Shard {
        switch self {
        case .fixed(let shard): shard
        case .automatic(let count): try TaskVariables(environment).shard(of: count)
        }
    }
}
