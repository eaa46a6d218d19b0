import DownloadTestSupport
import Foundation
import Testing

extension EndToEnd {
    @Suite("Faults of bodies", .serialized, .timeLimit(.minutes(10)))
    struct BodyFaultTests {
        private static func cut(_ name: String, _ cut: @escaping @Sendable (Int64) -> FaultReply.Cut) -> HTTPFault {
            HTTPFault(name, fresh: .either([4])) { good, request in
                let size = ResolvedReply(good, to: request).size
                return good.with { $0.cut = cut(size) }
            }
        }

        /// The places of a cut, as functions of the size of the body.
        static let places: [(name: String, of: @Sendable (Int64) -> Int64)] = [
            ("at 0", { _ in 0 }), ("in the middle", { $0 / 2 }), ("at 99 %", { $0 * 99 / 100 }),
            ("before the last byte", { $0 - 1 }),
        ]

        static let cuts =
            [cut("no answer at all") { _ in .silence }]
            + places.flatMap { place in
                [
                    cut("closed \(place.name)") { .close(after: place.of($0)) },
                    cut("reset \(place.name)") { .reset(after: place.of($0)) },
                ]
            }

        /// The places of a stall. If each body stalled in the middle, some twenty stall timeouts would follow each other.
        static let stallPlaces: [(name: String, of: @Sendable (Int64) -> Int64)] = [
            ("at 0", { _ in 0 }), ("after 1 MiB", { min($0 * 99 / 100, mebibyte) }), ("at 99 %", { $0 * 99 / 100 }),
            ("before the last byte", { $0 - 1 }),
        ]

        static let stalls = stallPlaces.map { place in
            cut("stalled \(place.name)") { .stall(after: place.of($0)) }.with { $0.stallTimeout = 3 }
        }

        @Test("After a body that ends too soon, the file is right or there is an error, and the bytes are used later")
        func cut() async throws { try await HTTPFaultCell.run(Self.cuts) }

        @Test("After a body that stalls, the file is right or there is an error, and the bytes are used later")
        func stalled() async throws { try await HTTPFaultCell.run(Self.stalls, atMost: 10) }

        static let chunked: [HTTPFault] = [
            HTTPFault("chunked") { $0.framing = .chunked },
            HTTPFault("chunked, no last chunk, of a range") { good, request in
                let size = ResolvedReply(good, to: request).size
                return good.with {
                    $0.framing = .chunked
                    $0.cut = .close(after: size)
                }
            },
            HTTPFault("chunked, no last chunk, of the whole file", fresh: .fails([4]), later: .right) {
                $0.ranges = .ignored
                $0.framing = .chunked
                $0.cut = .close(after: $0.content.size)
            },
            HTTPFault("chunked, closed within a chunk", fresh: .either([4])) {
                $0.framing = .chunked
                $0.cut = .close(after: 700_001)
            },
            HTTPFault("chunked, with another Content-Length") { $0.framing = .chunkedWithLength(by: -1000) },
            HTTPFault("chunked, fields after the last chunk") {
                $0.framing = .chunked
                $0.lastChunk = "0\r\nETag: \"other\"\r\nContent-Length: 5\r\n\r\n"
            },
            HTTPFault("chunked, garbage after the last chunk") {
                $0.framing = .chunked
                $0.lastChunk = "0\r\n\r\ngarbage"
            },
        ]

        static let badChunks = [
            "no number": "xyz\r\n", "negative": "-5\r\nhello\r\n", "empty": "\r\n\r\n",
            "2^64 and more": "10000000000000005\r\nhello\r\n", "of 100 digits": String(repeating: "f", count: 100),
            "of 20 digits": "FFFFFFFFFFFFFFFFFFFF\r\n",
        ].sorted { $0.key < $1.key }.map { name, text in
            HTTPFault("chunk size \(name)", fresh: .either([7])) {
                $0.framing = .chunked
                $0.chunkInsertion = (700_001, text)
            }
        }

        /// Chunks with wrong sizes. Bytes between chunks must not be accepted as a part of the file, now or on a
        /// resume.
        static let wrongSizes = [("5 too small", -5), ("5 too large", 5), ("1000 too large", 1000)].flatMap {
            name, error in
            [
                HTTPFault("chunk size \(name)", fresh: .either([7])) {
                    $0.framing = .chunked
                    $0.chunkSizeError = (700_001, error)
                },
                HTTPFault("chunk size \(name), of the whole file", fresh: .fails([7])) {
                    $0.ranges = .ignored
                    $0.framing = .chunked
                    $0.chunkSizeError = (700_001, error)
                }.with { $0.losesPart = true },
                HTTPFault("chunk size \(name), then closed", fresh: .either([4, 7])) { good, request in
                    let size = ResolvedReply(good, to: request).size
                    return good.with {
                        $0.framing = .chunked
                        $0.chunkSizeError = (size - 3000, error)
                        $0.cut = .close(after: size - 1000)
                    }
                },
            ]
        }

        @Test("Valid chunked bodies give the right file, and malformed ones give the right file or an error")
        func chunks() async throws {
            try await HTTPFaultCell.run(Self.chunked + Self.badChunks + Self.wrongSizes)
        }

        static let lengths: [HTTPFault] =
            [
                ("twice the same", ["8388608", "8388608"], .right),
                ("in a list, twice the same", ["8388608, 8388608"], .right),
                ("two that differ", ["8388608", "8388600"], .fails([7])),
                ("in a list, two that differ", ["8388600, 8388608"], .fails([7])),
                ("negative", ["-1"], .fails([7])),
                ("no number", ["many"], .fails([7])),
                ("empty", [""], .fails([7])),
                ("2^63", ["9223372036854775808"], .fails([7])),
                ("2^64 and the true one", ["18446744073717940224"], .fails([7])),
                ("of 100 digits", [String(repeating: "9", count: 100)], .fails([7])),
                ("with a sign", ["+8388608"], .fails([7])),
                ("with a unit", ["8388608 bytes"], .fails([7])),
                ("hexadecimal", ["0x800000"], .fails([7])),
            ].map { (name: String, values: [String], expectation: HTTPFault.Expectation) in
                HTTPFault("Content-Length \(name)", fresh: expectation) {
                    $0.ranges = .ignored
                    $0.framing = .lengths(values)
                }
            } + [
                HTTPFault("Content-Length too large", fresh: .fails([4])) {
                    $0.ranges = .ignored
                    $0.framing = .wrongLength(by: 1000)
                }.with { $0.losesPart = true },
                HTTPFault("Content-Length too large, of a range", fresh: .fails([4, 7, 9])) {
                    $0.framing = .wrongLength(by: 1000)
                },
                HTTPFault("Content-Length too small, of a range", fresh: .fails([7, 9])) {
                    $0.framing = .wrongLength(by: -1000)
                },
            ]

        @Test("Valid Content-Length fields give the right file, and malformed ones give an error")
        func lengths() async throws { try await HTTPFaultCell.run(Self.lengths) }

        static let trickles: [HTTPFault] = [
            HTTPFault("trickling, then at full speed") { $0.trickle = FaultReply.Trickle(200, upTo: 300) }
        ]

        @Test("A body that trickles and then arrives at full speed gives the right file")
        func trickling() async throws { try await HTTPFaultCell.run(Self.trickles) }

        static let closeDelimited: [HTTPFault] = [
            HTTPFault("no length, the whole file", fresh: .fails([9]), later: .right) {
                $0.ranges = .ignored
                $0.framing = .closeDelimited
            },
            HTTPFault("no length, reset in the middle", fresh: .fails([4])) {
                $0.ranges = .ignored
                $0.framing = .closeDelimited
                $0.cut = .reset(after: 3 * mebibyte)
            },
            HTTPFault("no length but Content-Range, closed in the middle", fresh: .either([4, 7])) { good, request in
                let size = ResolvedReply(good, to: request).size
                return good.with {
                    $0.framing = .closeDelimited
                    $0.cut = .close(after: size / 2)
                }
            },
            HTTPFault("no length but Content-Range, a range that is too long", fresh: .either([7])) {
                $0.framing = .closeDelimited
                $0.ranges = .wrongBody(by: 1000)
            },
        ]

        @Test("Bodies without a length, which end with the connection, give the right file or an error")
        func closeDelimited() async throws { try await HTTPFaultCell.run(Self.closeDelimited) }

        @Test(
            "A body that ends only with its connection needs a checksum, a known size or --allow-unverified"
        )
        func unprovable() async throws {
            let content = HTTPFault.content
            let cut = FaultReply(content).with {
                $0.ranges = .ignored
                $0.framing = .closeDelimited
                $0.cut = .close(after: 3 * mebibyte)
            }
            try await withDlm(serving: cut) { sandbox, server in
                let result = try await sandbox.perform("get", server.url())
                let trial = FaultTrial(area: .http, fault: "no length, closed in the middle")
                try trial.judge(result, in: sandbox, right: [content], errors: [9])
                #expect(result.stderr.contains("run: dlm resume 1 --allow-unverified;"), "\(result.stderr)")
                #expect(result.stderr.contains("allow-unverified: true for 127.0.0.1"), "\(result.stderr)")
                #expect(result.stderr.split(separator: "\n").count == 1, "\(result.stderr)")
                try await sandbox.performDone("resume", "1", "--allow-unverified")
                #expect(try sha256(of: sandbox.file("file.bin")) == content.sha256(upTo: 3 * mebibyte))
            }
            try await withDlm(serving: cut) { sandbox, server in
                try sandbox.configure("hosts:\n  127.0.0.1: {allow-unverified: true}\n")
                #expect(try await sandbox.perform("get", server.url()).ending == .exited(0))
                let other = server.url("/other").replacing("127.0.0.1", with: "localhost")
                expectFailure(9, of: try await sandbox.perform("get", other))
            }
            try await withDlm(serving: cut.with { $0.cut = nil }) { sandbox, server in
                let whole = FaultTrial(area: .http, fault: "no length, the end of the connection")
                try whole.judge(try await sandbox.perform("get", server.url()), in: sandbox, right: [], errors: [9])
                let checked = try await sandbox.perform("get", "--checksum", "sha256:\(content.sha256)", server.url())
                try expectDownloaded(content, as: "file.bin", by: checked, in: sandbox)
            }
            try await withDlm(serving: cut) { sandbox, server in
                let checked = try await sandbox.perform("get", "--checksum", "sha256:\(content.sha256)", server.url())
                let sure = FaultTrial(area: .http, fault: "no length, closed in the middle, --checksum")
                try sure.judge(checked, in: sandbox, right: [], errors: [9])
            }
            let good = FaultReply(content, etag: "\"v1\"")
            try await HTTPFaultCell.run(
                [
                    HTTPFault("no length, closed in the middle", fresh: .fails([7])) { _, _ in
                        cut.with { $0.etag = good.etag }
                    }
                ], in: [(.resume, 1), (.resume, 4), (.middle, 1), (.middle, 4)])
        }
    }
}
