import DownloadTestSupport
import Foundation
import Testing

@testable import DownloadCore
@testable import DownloadRPC

@Suite("Attacks on the RPC server: the secret", .inTurn, .timeLimit(.minutes(2)))
struct SecretTests {
    @Test("The secret has 128 bits, is kept in a file that only this user can read, and is never printed")
    func file() async throws {
        let folder = try TemporaryFolder()
        let first = try RPCSecret.load(from: folder("a"))
        #expect(first.text.count == 32 && first.text.allSatisfy(\.isHexDigit))
        #expect(try RPCSecret.load(from: folder("a")).text == first.text)
        #expect(try RPCSecret.load(from: folder("b")).text != first.text)
        let attributes = try FileManager.default.attributesOfItem(atPath: folder("a/rpc-secret"))
        #expect(attributes[.posixPermissions] as? Int == 0o600)
        #expect(folder.names(in: "a") == ["rpc-secret"])
        #expect("\(first)" == "(hidden)" && !String(reflecting: first).contains(first.text))
    }

    @Test("A secret's file is refused if others can read it, if it is a link, or if the secret is empty or short")
    func unusable() async throws {
        let folder = try TemporaryFolder()
        func load(_ text: String, mode: Int = 0o600) throws {
            try folder.write(text, to: "rpc-secret")
            try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: folder("rpc-secret"))
            _ = try RPCSecret.load(from: folder.path)
        }
        let good = String(repeating: "k", count: 16)
        #expect(throws: Never.self) { try load(good + "\n") }
        for mode in [0o640, 0o604, 0o666] { #expect(throws: DownloadError.self) { try load(good, mode: mode) } }
        for text in ["", "\n", "short", good + "\n" + good, String(repeating: "k", count: 300)] {
            #expect(throws: DownloadError.self, "\(text)") { try load(text) }
        }
        try FileManager.default.moveItem(atPath: folder("rpc-secret"), toPath: folder("elsewhere"))
        try FileManager.default.createSymbolicLink(
            atPath: folder("rpc-secret"), withDestinationPath: folder("elsewhere"))
        #expect(throws: DownloadError.self) { try RPCSecret.load(from: folder.path) }
    }

    @Test("Without the secret or with a wrong one nothing is done, and the answer comes a second later")
    func wrong() async throws {
        let bench = try await RPCBench()
        let wrong = String(bench.secret.dropLast()) + (bench.secret.hasSuffix("0") ? "1" : "0")
        for token in [
            "", #""token:","#, #""token:\#(wrong)","#, #""token:\#(bench.secret)0","#, #""\#(bench.secret)","#,
        ] {
            let before = bench.time.waited
            let answer = try await bench.post(
                #"{"id":0,"method":"aria2.addUri","params":[\#(token)["http://127.0.0.1:9/x"]]}"#)
            #expect(answer.status == 400 && answer.error == "Unauthorized", "\(token)")
            #expect(bench.time.waited - before >= .milliseconds(990), "\(token)")
        }
        for field in ["X: y", "Authorization: Bearer \(wrong)", "Authorization: Basic \(bench.secret)"] {
            let before = bench.time.waited
            #expect(try await bench.ask("GET", "/v1/session", fields: [field]).status == 401)
            #expect(try await bench.ask("GET", "/metrics", fields: [field]).status == 401)
            #expect(bench.time.waited - before >= .milliseconds(1990))
        }
        #expect(try await bench.isEmpty)
        #expect(try await bench.ask("GET", "/v1/session", fields: [bench.bearer]).status == 200)
        await bench.end()
    }

    @Test("After a wrong secret, no further secret in the same request is compared")
    func guessesAtOnce() async throws {
        let bench = try await RPCBench()
        let calls =
            (0..<500).map { #"{"methodName":"aria2.getVersion","params":["token:\#($0)"]}"# }
            + [#"{"methodName":"aria2.getVersion","params":["token:\#(bench.secret)"]}"#]
        let before = bench.time.waited
        let answer = try await bench.post(
            #"{"id":1,"method":"system.multicall","params":[[\#(calls.joined(separator: ","))]]}"#)
        #expect(answer.result?.values?.count == 501)
        #expect(answer.result?.values?.allSatisfy { $0.fields?["message"] == "Unauthorized" } == true)
        let batch =
            (0..<500).map { #"{"id":\#($0),"method":"aria2.getVersion","params":["token:\#($0)"]}"# }
            + [#"{"id":1,"method":"aria2.getVersion","params":["token:\#(bench.secret)"]}"#]
        let answers = try await bench.post("[\(batch.joined(separator: ","))]").document.values
        #expect(answers?.count == 501 && answers?.allSatisfy { $0.fields?["error"] != nil } == true)
        #expect(bench.time.waited - before < .seconds(3))
        await bench.end()
    }

    @Test("After twenty wrong secrets in a minute nothing is compared, whatever client address the fields claim")
    func manyGuesses() async throws {
        let bench = try await RPCBench()
        let right = #"{"id":1,"method":"aria2.getVersion","params":["token:\#(bench.secret)"]}"#
        for number in 0..<SecretGate.wrongOnes {
            _ = try await bench.post(
                #"{"id":1,"method":"aria2.getVersion","params":["token:wrong\#(number)"]}"#,
                fields: [
                    "X-Forwarded-For: 192.0.2.\(number)", "Forwarded: for=192.0.2.\(number)",
                    "X-Real-IP: 192.0.2.\(number)",
                ])
        }
        let refused = try await bench.post(right, fields: ["X-Forwarded-For: 192.0.2.99"])
        #expect(refused.status == 429 && refused.result == nil)
        #expect(try await bench.ask("GET", "/v1/session", fields: [bench.bearer]).status == 429)
        bench.time.advance(by: SecretGate.span)
        #expect(try await bench.post(right).status == 200)
        await bench.end()
    }

    @Test("The same wrong secret again and again, as of a page with an old secret, does not lock out others")
    func oldSecret() async throws {
        let bench = try await RPCBench()
        for _ in 0..<2 * SecretGate.wrongOnes {
            #expect(try await bench.ask("GET", "/v1/session", fields: ["Authorization: Bearer old"]).status == 401)
        }
        #expect(try await bench.ask("GET", "/v1/session", fields: [bench.bearer]).status == 200)
        await bench.end()
    }

    @Test("The whole secret is compared")
    func comparison() {
        let secret = RPCSecret(text: "0123456789abcdef")
        #expect(secret.matches("0123456789abcdef"))
        for other in ["", "0", "0123456789abcdeF", "1123456789abcdef", "0123456789abcdef0", "0123456789abcde"] {
            #expect(!secret.matches(other), "\(other)")
        }
    }

    @Test("The token for metrics reads metrics and nothing else")
    func metricsToken() async throws {
        let bench = try await RPCBench()
        let token = try #require(RPCSecret(text: bench.secret).metricsToken)
        #expect(token.count == 32 && token != bench.secret)
        let field = "Authorization: Bearer \(token)"
        #expect(try await bench.ask("GET", "/metrics", fields: [field]).status == 200)
        #expect(try await bench.ask("GET", "/v1/session", fields: [field]).status == 401)
        #expect(
            try await bench.post(#"{"id":1,"method":"aria2.getVersion","params":["token:\#(token)"]}"#).status == 400)
        await bench.end()
    }
}
