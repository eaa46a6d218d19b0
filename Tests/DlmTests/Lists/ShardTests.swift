import DownloadCore
import Testing

@testable import dlm

/// The expected shards, made by Python: `int.from_bytes(hashlib.sha256(key.encode()).digest()[:8], "big") % n`. They
/// are in docs/scale.md and may never change, because workers of different versions divide the same list.
private let knownShards: [(String, Int, Int)] = [
    ("example.org", 6, 862),
    ("cdn.example.org", 5, 789),
    ("xn--bcher-kva.example", 0, 160),
    ("127.0.0.1", 4, 852),
    ("[::1]", 5, 709),
    ("https://example.org/a.jpg", 7, 407),
]

@Suite("Parts of a list")
struct ShardTests {
    @Test("The shards of the keys in docs/scale.md do not change", arguments: knownShards)
    func vectors(_ key: String, eight: Int, thousand: Int) throws {
        #expect(try Shard.number(of: key, count: 8) == eight)
        #expect(try Shard.number(of: key, count: 1000) == thousand)
        #expect(try Shard.number(of: key, count: 1) == 0)
    }

    @Test("docs/scale.md has the same test vectors")
    func documented() throws {
        let page = try DocumentationTests.text("docs/scale.md")
        for (key, eight, thousand) in knownShards { #expect(page.contains("| `\(key)` | \(eight) | \(thousand) |")) }
    }

    @Test("The values that --shard accepts and refuses")
    func arguments() throws {
        #expect(try ShardArgument(argument: "0/8") == .fixed(Shard(index: 0, count: 8)))
        #expect(try ShardArgument(argument: "7/8") == .fixed(Shard(index: 7, count: 8)))
        #expect(try ShardArgument(argument: "auto") == .automatic(count: nil))
        #expect(try ShardArgument(argument: "auto/12") == .automatic(count: 12))
        for text in [
            "", "8/8", "-1/8", "+1/8", "1", "1/", "/8", "1/0", "0/0", "a/8", "auto/", "auto/0", "1/2/3", "1/100001",
            " 1/8",
        ] {
            #expect(throws: (any Error).self, "\(text)") { try ShardArgument(argument: text) }
        }
    }

    private func find(_ text: String, _ environment: [String: String]) throws -> Shard {
        try ShardArgument(argument: text).shard(in: environment)
    }

    @Test("--shard auto reads the shard from Slurm, Kubernetes and GNU parallel")
    func engines() throws {
        let slurm = ["SLURM_ARRAY_TASK_ID": "7", "SLURM_ARRAY_TASK_MIN": "5", "SLURM_ARRAY_TASK_COUNT": "8"]
        #expect(try find("auto", slurm) == Shard(index: 2, count: 8))
        // With a given count, the ID of the task is the index, because one task of a larger array may be run again
        // alone.
        #expect(try find("auto/16", slurm) == Shard(index: 7, count: 16))
        let stepped = slurm.merging(["SLURM_ARRAY_TASK_ID": "9", "SLURM_ARRAY_TASK_STEP": "2"]) { $1 }
        #expect(try find("auto", stepped) == Shard(index: 2, count: 8))
        let kubernetes = ["JOB_COMPLETION_INDEX": "0"]
        #expect(try find("auto/3", kubernetes) == Shard(index: 0, count: 3))
        #expect(try find("auto", kubernetes.merging(["JOB_COMPLETIONS": "5"]) { $1 }) == Shard(index: 0, count: 5))
        #expect(try find("auto/3", ["PARALLEL_SEQ": "3"]) == Shard(index: 2, count: 3))
    }

    @Test("A missing or wrong environment variable is named")
    func environment() throws {
        let cases: [(String, [String: String], String)] = [
            ("auto", [:], "none of SLURM_ARRAY_TASK_ID, JOB_COMPLETION_INDEX, PARALLEL_SEQ is set"),
            ("auto", ["JOB_COMPLETION_INDEX": "0"], "JOB_COMPLETIONS is not set"),
            ("auto/3", ["JOB_COMPLETION_INDEX": "3"], "says shard 3/3"),
            ("auto/3", ["JOB_COMPLETION_INDEX": "x"], "JOB_COMPLETION_INDEX is 'x'"),
            ("auto", ["PARALLEL_SEQ": "1"], "give --shard auto/N"),
            ("auto/3", ["PARALLEL_SEQ": "0"], "says shard -1/3"),
            ("auto", ["SLURM_ARRAY_TASK_ID": "9"], "SLURM_ARRAY_TASK_MIN is not set"),
            (
                "auto", ["SLURM_ARRAY_TASK_ID": "9", "SLURM_ARRAY_TASK_MIN": "0", "SLURM_ARRAY_TASK_COUNT": "3"],
                "consecutive numbers"
            ),
            ("auto/3", ["PARALLEL_SEQ": "1", "JOB_COMPLETION_INDEX": "1"], "are both set"),
        ]
        for (text, environment, expected) in cases {
            let error = #expect(throws: (any Error).self) { try find(text, environment) }
            #expect(
                "\(error.map { "\($0)" } ?? "")".contains(expected),
                "\(text) \(environment) \(String(describing: error))")
        }
    }

    @Test("Each URL is in exactly one shard; by host, all URLs of a host are in the same shard")
    func partition() throws {
        let urls = (0..<2000).map { "http://h\($0 % 50).example/f\($0)" } + ["no URL at all", "http://"]
        for rule in ShardRule.allCases {
            var owners: [String: [Int]] = [:]
            for index in 0..<7 {
                var filter = ShardFilter(Shard(index: index, count: 7), by: rule)
                for (position, url) in urls.enumerated() where try filter.takes(url, at: position) {
                    owners[url, default: []].append(index)
                }
            }
            #expect(owners.count == urls.count && owners.values.allSatisfy { $0.count == 1 }, "\(rule)")
            if rule == .host {
                for host in 0..<50 {
                    let shards = Set(owners.filter { $0.key.contains("//h\(host).") }.flatMap(\.value))
                    #expect(shards.count == 1)
                }
            } else {
                let sizes = (0..<7).map { index in owners.values.count { $0 == [index] } }
                #expect(sizes.allSatisfy { $0 > 220 }, "\(rule) \(sizes)")
            }
        }
    }

    @Test("A host with more than 1/N of all URLs is reported by its shard, and no other host is reported")
    func heavy() throws {
        var notices: [String?] = []
        for index in 0..<4 {
            var filter = ShardFilter(Shard(index: index, count: 4), by: .host)
            for number in 0..<10_000 {
                let host = number % 2 == 0 ? "big.example" : "h\(number).example"
                _ = try filter.takes("https://\(host)/\(number)", at: number)
            }
            notices.append(filter.notice)
        }
        let told = notices.compactMap(\.self)
        #expect(told.count == 1 && told[0].contains("big.example has at least"), "\(notices)")
        #expect(notices.firstIndex { $0 != nil } == (try Shard.number(of: "big.example", count: 4)))
    }
}
