import DownloadTestSupport
import Testing

@testable import dlm

@Suite("Command lines with the syntax of POSIX", .inTurn, .serialized)
struct CommandWordTests {
    @Test(
        "Attached values and groups of letters are separated",
        arguments: [
            ("get -x4 u", ["get", "-x=4", "u"]), ("get -j8 -d/tmp/sub u", ["get", "-j=8", "-d=/tmp/sub", "u"]),
            ("get -osmall.bin u", ["get", "-o=small.bin", "u"]), ("get -HA:b u", ["get", "-H=A:b", "u"]),
            ("get -qx4 u", ["get", "-q", "-x=4", "u"]), ("get -qx 4 u", ["get", "-q", "-x", "4", "u"]),
            ("get -x=4 -o=a=b u", ["get", "-x=4", "-o=a=b", "u"]), ("get -o- u", ["get", "-o=-", "u"]),
            ("get -vvk u", ["get", "-v", "-v", "-k", "u"]), ("resume -bx4 3", ["resume", "-b", "-x=4", "3"]),
            ("daemon start -j4", ["daemon", "start", "-j=4"]), ("get -A= u", ["get", "-A", "", "u"]),
            // Values, words after --, numbers, and unknown options stay as they are.
            ("get -o -x4 -vv u", ["get", "-o", "-x4", "-v", "-v", "u"]),
            ("get --output -x4 -vv u", ["get", "--output", "-x4", "-v", "-v", "u"]),
            ("get -vv -- -x4", ["get", "-v", "-v", "--", "-x4"]), ("priority -15 3", ["priority", "-15", "3"]),
            ("get -s16 -x4 u", ["get", "-s16", "-x=4", "u"]), ("get -k1M u", ["get", "-k1M", "u"]),
            ("frobnicate -x4", ["frobnicate", "-x4"]), ("get -4o a u", ["get", "-4", "-o", "a", "u"]),
        ])
    func divided(line: String, words: [String]) throws {
        let arguments = line.split(separator: " ").map { String($0) }
        #expect(try GivenArguments.normalized(arguments) == words)
    }

    @Test(
        "A long option with one dash is not read as a letter with a value", arguments: ["-output", "-data=x", "-json"])
    func oneDash(word: String) {
        #expect(throws: (any Error).self) { try GivenArguments.normalized(["get", word, "u"]) }
    }

    /// Returns a value that the option accepts. Options without a case here accept any text.
    private static func value(_ letter: Character, _ number: Int) -> String {
        switch letter {
        case "x", "j": "\(number % 60 + 1)"
        case "H": "X-\(number): -v=\(number)"
        case "X": ["PUT", "POST", "DELETE"][number % 3]
        default: ["a", "-", "--", "=x", "a=b", "4", "-q", "é ü", "x4"][number % 9] + "\(number)"
        }
    }

    /// The long name of a flag, or of an option with a value, by letter.
    private static let letters: [Character: String] = [
        "x": "connections", "j": "max-concurrent", "d": "directory", "H": "header", "A": "user-agent", "e": "referer",
        "X": "method", "u": "user", "q": "quiet", "v": "verbose", "k": "insecure", "4": "ipv4",
    ]

    @Test("Attached, separate and long forms of the same options make the same command")
    func forms() throws {
        var random = SplitMix64(seed: 19)
        for _ in 0..<4 {
            var attached = ["get"]
            var separate = ["get"]
            var long = ["get"]
            var cluster = "-"
            for letter in Self.letters.keys.sorted().shuffled(using: &random).prefix(5) {
                let name = Self.letters[letter] ?? ""
                if "qvk4".contains(letter) {
                    cluster.append(letter)
                    separate.append("-\(letter)")
                    long.append("--\(name)")
                } else {
                    let value = Self.value(letter, Int.random(in: 0..<1000, using: &random))
                    attached.append("\(cluster)\(letter)\(value.hasPrefix("=") ? "=" : "")\(value)")
                    cluster = "-"
                    separate += value.hasPrefix("-") ? ["-\(letter)=\(value)"] : ["-\(letter)", value]
                    long.append("--\(name)=\(value)")
                }
            }
            if cluster != "-" { attached.append(cluster) }
            let commands = try [attached, separate, long].map { words in
                try #require(try DLM.command(words + ["https://example.org/x"]) as? Get)
            }
            #expect(commands[0] == commands[2], "\(attached) \(long)")
            #expect(commands[1] == commands[2], "\(separate) \(long)")
        }
    }

    @Test("The flags that may precede a secret in a group of letters are those of the commands")
    func flags() throws {
        func flags(_ command: CommandDescription) -> Set<UInt8> {
            let own = command.visibleArguments.filter { $0.kind == "flag" }.flatMap { $0.names ?? [] }
                .filter { $0.kind == "short" }.flatMap { Array($0.name.utf8) }
            return command.visibleCommands.reduce(Set(own)) { $0.union(flags($1)) }
        }
        #expect(ArgumentSecrets.flags == flags(try CommandDescription.root()))
    }
}
