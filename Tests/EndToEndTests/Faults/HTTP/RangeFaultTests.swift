import DownloadTestSupport
import Foundation
import Testing

extension EndToEnd {
    @Suite("Faults of ranges", .serialized, .timeLimit(.minutes(10)))
    struct RangeFaultTests {
        typealias Behaviour = FaultReply.RangeBehaviour
        typealias Expectation = HTTPFault.Expectation

        private static func fault(
            _ name: String, _ behaviour: Behaviour, fresh: Expectation = .either([7]), later: Expectation? = nil
        ) -> HTTPFault {
            HTTPFault(name, fresh: fresh, later: later) { $0.ranges = behaviour }
        }

        static let faults: [HTTPFault] = [
            fault("200 instead of 206", .ignored, fresh: .right),
            fault("206 without Content-Range", .withoutContentRange),
            fault("206 begins 5 bytes late", .wrongStart(by: 5)),
            fault("206 begins 4096 bytes late", .wrongStart(by: 4096)),
            fault("206 begins 5 bytes early", .wrongStart(by: -5), fresh: .right),
            fault("206 begins at 0", .wrongStart(by: -8 * mebibyte)),
            fault("206 ends 1 byte early", .wrongEnd(by: -1)),
            fault("206 ends 1 MiB early", .wrongEnd(by: -mebibyte)),
            fault("206 ends after its first byte", .wrongEnd(by: -8 * mebibyte)),
            fault("206 ends 100 bytes late", .wrongEnd(by: 100)),
            fault("206 with a larger total", .wrongTotal(by: 1000), fresh: .fails([7, 9])).with { $0.losesPart = true },
            fault("206 with a smaller total", .wrongTotal(by: -1000)).with { $0.losesPart = true },
            fault("206 with the total 2^63 - 1", .wrongTotal(by: .max - 8 * mebibyte), fresh: .fails([3])).with {
                $0.losesPart = true
            },
            fault("206 without a total", .withoutTotal, fresh: .either([7])),
            fault("206 with a body longer than Content-Range", .wrongBody(by: 1000)),
            fault("206 with a body shorter than Content-Range", .wrongBody(by: -1000)),
            fault("206 with multipart/byteranges", .multipart),
            fault("206 with an empty Content-Range", .contentRange("")),
            fault("206 with a backward Content-Range", .contentRange("bytes 9-0/8388608")),
            fault("206 with a negative Content-Range", .contentRange("bytes -5-10/8388608")),
            fault("206 with Content-Range of another unit", .contentRange("items 0-8388607/8388608")),
            fault("206 with Content-Range beyond its total", .contentRange("bytes 0-8388608/8388608")),
            fault("206 with Content-Range of 2^64", .contentRange("bytes 0-18446744073709551615/18446744073709551616")),
            fault("206 with an unsatisfied Content-Range", .contentRange("bytes */8388608")),
            fault("416 with the total", .refused, fresh: .right),
            fault("416 without a total", .refusedNaming(nil), fresh: .right),
            fault("416 with the total *", .refusedNaming("bytes */*"), fresh: .right),
            fault("416 with garbage for a total", .refusedNaming("garbage"), fresh: .right),
            fault("416 with a larger total", .refusedNaming("bytes */9000000"), fresh: .right, later: .either([7, 9])),
            fault("416 with a smaller total", .refusedNaming("bytes */1000"), fresh: .right, later: .either([7, 9])),
            fault("416 with the total 0", .refusedNaming("bytes */0"), fresh: .right, later: .either([7, 9])),
            HTTPFault("206 with the whole file for any range") {
                $0.ranges = .ignored
                $0.status = 206
                $0.fields.append(("Content-Range", "bytes 0-8388607/8388608"))
            },
            fault("206 from the beginning of a block of 64 KiB", .blockStart(64 << 10), fresh: .right),
            fault("206 with Content-Range bytes=", .contentRange("bytes=0-8388607/8388608")),
            fault("206 with Content-Range without a space", .contentRange("bytes0-8388607/8388608")),
            HTTPFault("Content-Range in a 200") {
                $0.ranges = .ignored
                $0.fields.append(("Content-Range", "bytes 5-9/10"))
            },
            HTTPFault("416 to everything", fresh: .fails([7, 8])) { _, _ in FaultReply(status: 416) },
        ]

        @Test("Wrong answers to range requests give the right file or an error")
        func ranges() async throws { try await HTTPFaultCell.run(Self.faults) }
    }
}
