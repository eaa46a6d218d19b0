import Foundation

/// A file of the project with its path relative to the project's folder.
struct SourceFile: Sendable {
    let path: String
    let text: String
    /// The tokens of Swift code. Empty for other files.
    let tokens: [Token]

    init(path: String, text: String) {
        self.path = path
        self.text = text
        tokens = path.hasSuffix(".swift") ? SwiftTokens.tokens(of: text) : []
    }

    var isSwift: Bool { path.hasSuffix(".swift") }
    /// The module, for example `DownloadCore` of `Sources/DownloadCore/HTTP/A.swift`.
    var module: String { path.split(separator: "/").dropFirst().first.map { String($0) } ?? "" }
    var isSource: Bool { path.hasPrefix("Sources/") }
    var isTest: Bool { path.hasPrefix("Tests/") }
}

/// A place that breaks a rule.
struct Violation: Equatable, CustomStringConvertible {
    let path: String
    let line: Int
    let message: String

    var description: String { "\(path):\(line): \(message)" }
}

/// All files of this project that are compiled.
enum SourceTree {
    static let root = URL(fileURLWithPath: #filePath)
        .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()

    /// Returns the files, which are read once for all rules.
    static func files() throws -> [SourceFile] { try read.get() }

    private static let read = Result { try readFiles() }

    private static func readFiles() throws -> [SourceFile] {
        try ["Sources", "Tests"].flatMap { folder in
            let paths = try FileManager.default.subpathsOfDirectory(atPath: root.appending(path: folder).path)
            return try paths.filter { ["swift", "c", "h"].contains(URL(fileURLWithPath: $0).pathExtension) }
                .sorted().map { path in
                    let url = root.appending(path: "\(folder)/\(path)")
                    return SourceFile(path: "\(folder)/\(path)", text: try String(contentsOf: url, encoding: .utf8))
                }
        }
    }
}
