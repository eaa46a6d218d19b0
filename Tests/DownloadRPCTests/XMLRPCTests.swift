import DownloadEngine
import DownloadTestSupport
import Foundation
import Testing

@testable import DownloadCore
@testable import DownloadRPC

@Suite("XML-RPC", .inTurn, .timeLimit(.minutes(1))) struct XMLRPCTests {
    private func call(_ bench: RPCBench, _ method: String, _ parameters: String) async throws -> RawClient.Received {
        let token = "<param><value><string>token:\(bench.secret)</string></value></param>"
        let call = "<methodName>\(method)</methodName><params>\(token)\(parameters)</params>"
        return try await bench.ask("POST", "/rpc", "<?xml version='1.0'?>\n<methodCall>\(call)</methodCall>")
    }

    private static func text(_ text: String) -> String { "<value><string>\(text)</string></value>" }
    private static func list(_ values: String) -> String { "<value><array><data>\(values)</data></array></value>" }

    private static func object(_ members: String) -> String { "<value><struct>\(members)</struct></value>" }

    private static func member(_ name: String, _ value: String) -> String {
        "<member><name>\(name)</name>\(value)</member>"
    }

    @Test("A download is added, asked for and removed, with every type of value")
    func life() async throws {
        let bench = try await RPCBench()
        let options = Self.object(
            Self.member("pause", "<value><boolean>1</boolean></value>")
                + Self.member("out", "<value>a &amp; b.bin</value>")
                + Self.member("split", "<value><int> 3 </int></value>")
                + Self.member("header", Self.list(Self.text("X: 1") + Self.text("Y: 2"))))
        let added = try await call(
            bench, "aria2.addUri",
            "<param>\(Self.list(Self.text("http://127.0.0.1:9/x")))</param><param>\(options)</param>")
        #expect(added.status == 200 && added.text.contains("Content-Type: text/xml"))
        let gid = try #require(added.body.firstMatch(of: /<param><value><string>([0-9a-f]{16})<.string>/)?.1)
        let status = try await call(
            bench, "aria2.tellStatus",
            "<param>\(Self.text(String(gid)))</param><param>\(Self.list(Self.text("status") + Self.text("files")))</param>"
        )
        #expect(status.body.contains("<member><name>status</name><value><string>paused</string></value></member>"))
        #expect(status.body.contains("a &amp; b.bin"))
        let record = try #require(try await bench.manager.snapshots(.all).first?.record)
        #expect(record.request.headers.map(\.name) == ["X", "Y"] && record.request.connections == 3)
        let version = Self.object(
            Self.member("methodName", Self.text("aria2.getVersion"))
                + Self.member("params", Self.list(Self.text("token:\(bench.secret)"))))
        let many = try await bench.ask(
            "POST", "/rpc",
            "<methodCall><methodName>system.multicall</methodName><params><param>\(Self.list(version + version))</param>"
                + "</params></methodCall>")
        #expect(many.body.components(separatedBy: "1.37.0").count == 3, "\(many.text)")
        let unknown = try await call(bench, "aria2.tellStatus", "<param>\(Self.text("zz"))</param>")
        #expect(unknown.status == 200 && unknown.body.contains("<fault>"))
        #expect(unknown.body.contains("<name>faultCode</name><value><i4>1</i4></value>"))
        await bench.end()
    }

    @Test("Base64, doubles and nothing are read, and text is escaped without characters that XML lacks")
    func values() async throws {
        let bench = try await RPCBench()
        let document = Data("<metalink><file name='a'><url>http://127.0.0.1:9/a</url></file></metalink>".utf8)
            .base64EncodedString()
        let metalink = try await call(
            bench, "aria2.addMetalink", "<param><value><base64>\n\(document)\n</base64></value></param>")
        #expect(metalink.body.contains("<array><data><value><string>"), "\(metalink.text)")
        for value in ["<double>1.5</double>", "<nil/>", "<i8>4</i8>"] {
            #expect(
                try await call(bench, "aria2.getVersion", "<param><value>\(value)</value></param>").body
                    .contains("1.37.0"), "\(value)")
        }
        let strange = try await call(bench, "aria2.x&lt;y", "")
        #expect(strange.body.contains("aria2.x&lt;y"))
        await bench.end()
    }

    @Test("What is no call is refused with a line, whatever it contains, and a wrong secret waits a second")
    func malformed() async throws {
        let bench = try await RPCBench()
        let bomb = "<!DOCTYPE a [<!ENTITY b 'bbbb'>]><methodCall><methodName>&b;</methodName></methodCall>"
        for body in [
            "", "{}", "<methodCall>", "<methodCall></methodCall>", "<x><methodName>a</methodName></x>", bomb,
            "<methodCall><methodName>aria2.getVersion</methodName><params><param><int>1</int></param></params></methodCall>",
            "<methodCall><methodName>a</methodName><params><param><value><int>x</int></value></param></params></methodCall>",
            "<methodCall><methodName>a</methodName><params><param><value><struct><member/></struct></value></param>"
                + "</params></methodCall>",
            "<methodCall><methodName>a</methodName><params>" + String(repeating: "<param/>", count: 60_000)
                + "</params></methodCall>",
        ] {
            let answer = try await bench.ask("POST", "/rpc", body)
            #expect(answer.status == 400 && answer.body.contains("<fault>"), "\(body.prefix(80)): \(answer.text)")
        }
        #expect(try await bench.ask("GET", "/rpc").status == 405)
        #expect(try await bench.ask("POST", "/rpc", "", fields: ["Origin: http://evil.example"]).status == 403)
        let before = bench.time.waited
        let wrong = try await bench.ask(
            "POST", "/rpc",
            "<methodCall><methodName>aria2.getVersion</methodName><params><param>\(Self.text("token:x"))</param></params>"
                + "</methodCall>")
        #expect(wrong.status == 200 && wrong.body.contains("Unauthorized"))
        #expect(bench.time.waited - before >= .milliseconds(990))
        await bench.end()
    }
}
