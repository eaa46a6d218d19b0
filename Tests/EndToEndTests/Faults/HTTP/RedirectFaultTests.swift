import DownloadTestSupport
import Foundation
import Testing

extension EndToEnd {
    @Suite("Faults of redirects", .serialized, .timeLimit(.minutes(10)))
    struct RedirectFaultTests {
        /// Returns a fault that redirects. The right file is also below `/far/`, to which most redirects lead.
        private static func to(
            _ name: String, _ expectation: HTTPFault.Expectation = .right, status: Int = 302,
            _ location: @escaping @Sendable (_ port: String) -> String
        ) -> HTTPFault {
            HTTPFault("redirect \(name)", fresh: expectation) { good, request in
                if request.target.contains("far/") { return good }
                let port = request["Host"]?.split(separator: ":").last ?? ""
                return .redirect(to: location(String(port)), status: status)
            }
        }

        static let followed: [HTTPFault] =
            [301, 302, 303, 307, 308].map { status in
                to("\(status)", status: status) { "http://127.0.0.1:\($0)/far/file.bin" }
            } + [
                to("to another host") { "http://localhost:\($0)/far/file.bin" },
                to("relative") { _ in "far/file.bin" },
                to("relative to the root") { _ in "/far/file.bin" },
                to("relative to the scheme") { "//127.0.0.1:\($0)/far/file.bin" },
                to("with dots in the path") { _ in "/a/b/../../far/./file.bin" },
                to("with a fragment and a query") { _ in "/far/file.bin?a=/b#c/d" },
                to("with spaces") { _ in "/far/file.bin?a b" },
                to("with credentials") { "http://user:secret@127.0.0.1:\($0)/far/file.bin" },
                to("of 60 KiB") { _ in "/far/file.bin?" + String(repeating: "a", count: 60_000) },
                to("in capitals") { "HTTP://127.0.0.1:\($0)/far/file.bin" },
                chain("of 20", hops: 20),
            ]

        private static func chain(
            _ name: String, hops: Int, _ expectation: HTTPFault.Expectation = .right
        ) -> HTTPFault {
            HTTPFault("redirects, a chain \(name)", fresh: expectation) { good, request in
                let hop = Int(request.target.split(separator: "/").first ?? "") ?? 0
                return hop == hops ? good : .redirect(to: "/\(hop + 1)/file.bin")
            }
        }

        static let refused: [HTTPFault] =
            [
                "file:///etc/passwd", "file://localhost/etc/passwd", "FILE:/etc/passwd", "ftp://127.0.0.1/x",
                "gopher://127.0.0.1/x", "data:text/plain,hello", "dict://127.0.0.1/x", "scp://127.0.0.1/x",
                "sftp://127.0.0.1/x", "smb://127.0.0.1/x", "javascript:alert(1)", "mailto:a@example.org", "x:y",
            ].map { location in
                to("to \(location)", .fails([7])) { _ in location }
            } + [
                to("to http:// and nothing", .fails([7])) { _ in "http://" },
                to("to a port beyond 65535", .fails([7])) { _ in "http://127.0.0.1:99999/far/file.bin" },
                to("to a broken address", .fails([7])) { _ in "http://[::1/far/file.bin" },
                to("to a host with a space", .fails([7])) { _ in "http://a b/far/file.bin" },
                to("to an empty location", .fails([7])) { _ in "" },
                to("to itself", .fails([7])) { _ in "/file.bin" },
                to("to a port that nobody listens on", .fails([4])) { _ in "http://127.0.0.1:1/far/file.bin" },
                chain("of 21", hops: 21, .fails([7])), chain("without an end", hops: .max, .fails([7])),
                HTTPFault("redirects, two that turn in a circle", fresh: .fails([7])) { _, request in
                    .redirect(to: request.target == "/a/file.bin" ? "/b/file.bin" : "/a/file.bin")
                },
                HTTPFault("redirect with two locations", fresh: .fails([7])) { good, request in
                    if request.target.contains("far/") { return good }
                    return FaultReply(
                        status: 302, fields: [("Location", "/far/file.bin"), ("Location", "file:///etc/passwd")])
                },
            ]

        @Test("Valid redirects are followed, and the file is right")
        func followed() async throws { try await HTTPFaultCell.run(FaultTrial.short(Self.followed, each: 3)) }

        @Test("Redirects to other schemes, to invalid URLs, and without an end are an error")
        func refused() async throws { try await HTTPFaultCell.run(FaultTrial.short(Self.refused, each: 3)) }

        /// Redirects that lead to a different file than the file whose download has begun.
        static let different: [HTTPFault] = [
            ("with its own ETag", "\"v1\"", "\"v2\"", HTTPFault.Expectation.right),
            ("without validators", nil, nil, .right),
            ("without an ETag, first answer with an ETag", "\"v1\"", nil, .either([9])),
            ("with an ETag, first answer without an ETag", nil, "\"v2\"", .right),
        ].map { name, before, after, later in
            let other = FaultReply(Content(seed: 301, size: HTTPFault.content.size), etag: after)
            return HTTPFault("redirect to a different file \(name)", later: later) { _, request in
                request.target.contains("other/") ? other : .redirect(to: "/other/file.bin")
            }.with {
                $0.right = other.content
                $0.good = FaultReply(HTTPFault.content, etag: before)
            }
        }

        @Test("After a redirect to a different file, the new file is right, and no bytes are mixed")
        func different() async throws { try await HTTPFaultCell.run(Self.different) }
    }
}
