import DownloadKit
import Foundation

/// The code of ResumeDataAndTrust.md, compiled. A test compares the two.
private enum ResumeDataAndTrust {
    static func keep(task: DownloadTask, session: DownloadSession, file: URL) async throws {
        if let data = try await task.cancel() {
            try JSONEncoder().encode(data).write(to: file)
        }
        let kept = try JSONDecoder().decode(ResumeData.self, from: Data(contentsOf: file))
        let again = try await session.download(resumingWith: kept)
        print(try await again.value.url)
    }

    static func killed(session: DownloadSession) async throws {
        for data in try await session.resumable {
            print(data.request.url, data.received, data.total ?? 0)
            _ = try await session.download(resumingWith: data)
        }
    }

    static func cancel(task: DownloadTask) async throws {
        let waiting = Task { try await task.value }
        waiting.cancel()
        _ = await waiting.result
        print(try await task.resumeData?.received ?? 0)
    }

    static func secrets(session: DownloadSession, kept: ResumeData) async throws {
        let task = try await session.download(
            resumingWith: kept, credential: Credential(user: "ann", password: "secret"))
        print(task.id)
    }

    static func trust() throws -> DownloadRequest {
        var request = try DownloadRequest("https://intranet.example.org/file")
        request.trust.authorities = "/etc/ssl/company.pem"
        request.trust.minimumTLS = .tls13
        request.trust.pinnedKey = "sha256//47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU="
        return request
    }
}
