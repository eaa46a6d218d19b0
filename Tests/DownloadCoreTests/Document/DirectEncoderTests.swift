import DownloadCore
import Foundation
import DownloadTestSupport
import Testing

@Suite("DirectEncoder", .inTurn)
struct DirectEncoderTests {
    private struct Tree: Codable, Equatable {
        var text: String
        var flag: Bool?
        var numbers: [Double]
        var branches: [Tree] = []
        var named: [String: Int8] = [:]
        var state: DownloadState?
        var date: Date?
        var large: UInt64 = .max
        var nothing: [Int?] = []
    }

    /// Writes to an outer container after a container inside it, and leaves other containers empty.
    private struct Mixed: Encodable {
        enum Key: String, CodingKey { case a, b, c, d, e }

        func encode(to encoder: any Encoder) throws {
            var outer = encoder.container(keyedBy: Key.self)
            var inner = outer.nestedContainer(keyedBy: Key.self, forKey: .a)
            try inner.encode(1, forKey: .b)
            var list = inner.nestedUnkeyedContainer(forKey: .c)
            try list.encode("x")
            var object = list.nestedContainer(keyedBy: Key.self)
            try object.encodeNil(forKey: .d)
            try list.encode(2.5)
            try outer.encode(true, forKey: .b)
            _ = outer.nestedUnkeyedContainer(forKey: .c)
            _ = outer.nestedContainer(keyedBy: Key.self, forKey: .d)
            try outer.encode([[Int]()], forKey: .e)
        }
    }

    private func readAgain<Value: Codable & Equatable>(_ value: Value) throws {
        #expect(try JSONText.decode(Value.self, DirectEncoder.encode(value)) == value)
    }

    @Test("Containers are nested as the value nests them")
    func nesting() throws {
        #expect(
            try DirectEncoder.encode(Mixed())
                == #"{"a":{"b":1,"c":["x",{"d":null},2.5]},"b":true,"c":[],"d":{},"e":[[]]}"#)
    }

    @Test("The text is read as the value that was written")
    func roundTrip() throws {
        let all = String(String.UnicodeScalarView((1...0x7F).compactMap(Unicode.Scalar.init)))
        let leaf = Tree(
            text: all, flag: false, numbers: [0, -0.0, 1e300, 2.3e-308, .infinity, -.infinity, 0.1, 1e21],
            named: ["ü\"\\\u{0}": -128, "": 0], state: .paused(.user), date: Date(timeIntervalSince1970: 0.123))
        try readAgain(Tree(text: "日本\u{2028}🇯🇵", flag: true, numbers: [], branches: [leaf, leaf], nothing: [1, nil]))
        try readAgain("plain")
        try readAgain([1, 2])
        try readAgain(
            DownloadState.waiting(
                .retry(.serverRefused(status: 503, phrase: "a\"b")), until: Date(timeIntervalSince1970: 1.5)))
    }

    @Test("A pause reason is written as Foundation writes it, because queues are searched by this text")
    func sameText() throws {
        for reason in DownloadState.PauseReason.allCases {
            let state = DownloadState.paused(reason)
            #expect(try DirectEncoder.encode(state) == String(decoding: JSONEncoder().encode(state), as: UTF8.self))
        }
    }
}
