import DownloadCore
import Foundation
import DownloadTestSupport
import Testing

@Suite("ServerTrustPolicy: encoding", .inTurn)
struct ServerTrustPolicyTests {
    private func coded(_ policy: ServerTrustPolicy) throws -> String {
        String(decoding: try JSONEncoder().encode([policy]), as: UTF8.self)
    }

    @Test("Only the differences from the policy `system` are encoded")
    func differences() throws {
        #expect(try coded(.system) == "[{}]")
        #expect(try coded(.insecure) == #"[{"verifiesServer":false}]"#)
        let text = #"[{"verifiesServer":false},{}]"#
        let read = try JSONDecoder().decode([ServerTrustPolicy].self, from: Data(text.utf8))
        #expect(read == [.insecure, .system])
    }

    @Test("A policy with further properties is the same after encoding and decoding")
    func whole() throws {
        var policy = ServerTrustPolicy.insecure
        policy.authorities = "/ca"
        policy.revocations = "/crl"
        policy.certificate = "/cert"
        policy.privateKey = "/key"
        policy.pinnedKey = "sha256//x"
        policy.minimumTLS = .tls13
        let read = try JSONDecoder().decode([ServerTrustPolicy].self, from: Data(try coded(policy).utf8))
        #expect(read == [policy])
    }

    @Test("A word instead of an object is an error")
    func unknown() {
        #expect(throws: (any Error).self) {
            try JSONDecoder().decode([ServerTrustPolicy].self, from: Data(#"["everybody"]"#.utf8))
        }
    }
}
