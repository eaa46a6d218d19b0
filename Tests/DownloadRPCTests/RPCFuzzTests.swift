import DownloadTestSupport
import Foundation
import Testing

@testable import DownloadCore
@testable import DownloadRPC

/// Input as no client should send it.
@Suite("Fuzzing: aria2's RPC", .inTurn)
struct RPCFuzzTests {
    @Test("A document is the same after it is read, written and read again")
    func documents() {
        let corpus = [
            #"{"jsonrpc":"2.0","id":"x","method":"aria2.addUri","params":["token:abc",["http://h/a"],{"split":"4"},0]}"#,
            #"[{"id":0,"method":"system.multicall","params":[[{"methodName":"aria2.tellStatus","params":["a"]}]]},null,true]"#,
            #"{"a":-1.5e10,"b":"\u00e9\ud83d\ude00\n","c":[[],{}],"d":9223372036854775807}"#,
        ]
        Fuzzing("JSON-RPC", corpus: corpus, words: ["[[", "{\"id\":", "\\u0000", "1e999"]).run { input in
            guard let value = JSONValue(Data(input)) else { return nil }
            guard let again = JSONValue(value.data), again == value || "\(value)".contains("inf") else {
                return "\(value) became another one"
            }
            return nil
        }
    }

    @Test("Only the permitted hosts and origins pass, however they are written")
    func hosts() {
        let corpus = [
            "localhost:6800", "[::1]:80", "127.0.0.1", "nas.example.org", "https://nas.example.org:443", "null",
        ]
        var configuration = RPCConfiguration(folders: ["/tmp"], stateFolder: "/tmp/s")
        configuration.hosts = ["nas.example.org"]
        let rule = AccessRule(configuration)
        Fuzzing("Host and Origin", corpus: corpus, words: ["@", "://", "evil.example", "]", ":", "."]).run { input in
            let text = String(decoding: input, as: UTF8.self)
            if rule.answersTo([text]), let name = HostName(authority: text) {
                let isKnown = ["localhost", "nas.example.org"].contains(name.name) || HostName.isAddress(name.name)
                if !isKnown || !text.lowercased().contains(name.name) { return "\(text) is answered" }
            }
            let host = "localhost:6800"
            if rule.permits([text], host: [host]), text.lowercased().contains("evil"), !text.contains("extension://") {
                return "\(text) is permitted"
            }
            return nil
        }
    }

    @Test("Options become valid requests or errors")
    func options() throws {
        let url = try Aria2Session.url("http://h/a").url
        let corpus = [
            #"{"dir":"/tmp","out":"a/b","split":"5","max-connection-per-server":"3","max-download-limit":"10K"}"#,
            #"{"header":["A: b","C: d"],"referer":"r","http-user":"u","http-passwd":"p","all-proxy":"h:80","checksum":"md5=0"}"#,
            #"{"max-tries":"0","retry-wait":"3","timeout":"60","check-certificate":"false","min-tls-version":"TLSv1.3","gid":"0"}"#,
        ]
        Fuzzing("aria2's options", corpus: corpus, words: Aria2Option.all.map(\.name) + ["../", "\\r\\n", "true"]).run {
            input in
            guard let options = JSONValue(Data(input))?.fields,
                let request = try? Aria2Draft(options, folder: "/tmp", url: url).request([(url, nil)])
            else { return nil }
            if let field = RequestDocument.impossibleField(of: request) { return "\(field) is impossible" }
            if let name = request.destination.fileName, !FileNaming.isUsable(name) || name.hasPrefix(".") {
                return name
            }
            let texts =
                request.headers.map { $0.name + ($0.value ?? "") }
                + [request.http.userAgent, request.http.referer].compactMap(\.self)
            return texts.contains { !RequestRule.isOneLine($0) } ? "a line break in a field" : nil
        }
    }
}
