import DownloadCore
import DownloadKit
import DownloadTestSupport
import Foundation
import Glibc
import Testing

@testable import dlm

@Suite("config.yaml", .inTurn, .serialized)
struct SettingsFileTests {
    let folder: TemporaryFolder

    init() throws {
        folder = try TemporaryFolder()
        try FileManager.default.createDirectory(atPath: folder("dlm"), withIntermediateDirectories: true)
    }

    private var path: String { folder("dlm/config.yaml") }

    /// Returns the message about the file, or an empty text if the file is accepted.
    private func message() throws -> String {
        do {
            _ = try Settings(environment: ["XDG_CONFIG_HOME": folder.path])
            return ""
        } catch {
            return error.message
        }
    }

    @Test(
        "The file is in $XDG_CONFIG_HOME, or else in ~/.config; a relative folder is ignored",
        arguments: [
            (["XDG_CONFIG_HOME": "/x", "HOME": "/h"], "/x/dlm/config.yaml"),
            (["XDG_CONFIG_HOME": "x", "HOME": "/h"], "/h/.config/dlm/config.yaml"),
            (["XDG_CONFIG_HOME": "", "HOME": "/h"], "/h/.config/dlm/config.yaml"),
            (["HOME": "/h"], "/h/.config/dlm/config.yaml"),
            (["HOME": "h"], nil), ([:], nil),
        ] as [([String: String], String?)])
    func place(environment: [String: String], path: String?) {
        #expect(SettingsFile(environment: environment)?.path == path)
    }

    @Test("Without a home folder, only the environment has settings")
    func noHome() throws {
        #expect(try Settings(environment: ["DLM_RETRIES": "3"]).general?.item.transfer.retries == 3)
    }

    @Test("A folder, an endless file and a loop of links are refused, and a FIFO does not block")
    func strangeFiles() throws {
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
        #expect(try message() == "\(path): cannot read the configuration: Is a directory")
        try FileManager.default.removeItem(atPath: path)
        try FileManager.default.createSymbolicLink(atPath: path, withDestinationPath: "/dev/zero")
        #expect(try message() == "\(path): larger than 1 MiB; this is not a configuration file of dlm")
        try FileManager.default.removeItem(atPath: path)
        #expect(mkfifo(path, 0o600) == 0)
        #expect(try message() == "")
        try FileManager.default.removeItem(atPath: path)
        try FileManager.default.createSymbolicLink(atPath: path, withDestinationPath: path)
        #expect(try message().contains("cannot read the configuration: Too many levels of symbolic links"))
    }

    @Test("Bytes that are not UTF-8 are refused")
    func notText() throws {
        try Data([0x61, 0x3A, 0x20, 0xFF, 0x0A]).write(to: URL(fileURLWithPath: path))
        #expect(try message() == "\(path): not UTF-8 text; save it as UTF-8")
    }

    /// Returns the text of `docs/config.yaml`, and its commented-out lines without the `#`.
    private static func sample() throws -> (text: String, uncommented: String) {
        let source = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent().deletingLastPathComponent()
        let text = try String(contentsOf: source.appending(path: "docs/config.yaml"), encoding: .utf8)
        let lines = text.split(separator: "\n").filter { $0.prefixMatch(of: /\#(?:[a-z-]+:|  )/) != nil }
        return (text, lines.map { $0.dropFirst() }.joined(separator: "\n"))
    }

    @Test("The sample has every key, and is valid with and without the # before the keys")
    func sample() throws {
        let sample = try Self.sample()
        let file = try #require(SettingsFile(environment: ["HOME": "/h"]))
        #expect(try file.entries(in: sample.text) == [])
        let entries = try file.entries(in: sample.uncommented)
        #expect(Set(entries.map(\.key)) == Set(OptionScope.settings))
        let hosts = [
            "*.example.org", "downloads.example.org", "old.example.org", "api.example.org", "mirror.example.net",
        ]
        #expect(Set(entries.compactMap(\.host?.text)) == Set(hosts))
        _ = try Settings(entries, home: "/h")
    }

    @Test("The values behind # in the sample are the defaults, and dlm config shows the same")
    func sampleDefaults() throws {
        let start = try #require(Self.sample().uncommented.split(separator: "\nhosts:").first)
        try folder.write(String(start), to: "dlm/config.yaml")
        let settings = try Settings(environment: ["XDG_CONFIG_HOME": folder.path])
        #expect(settings.entries.count >= 15)
        let get = try #require(try DLM.command(["get", "http://h/"]) as? Get)
        func request(_ settings: Settings) throws -> DownloadRequest {
            try RequestMaker(get, settings: settings, workingFolder: "/").request("http://h/")
        }
        #expect(try request(settings) == request(Settings()))
        var with = SessionConfiguration(kind: .foreground, stateFolder: "/")
        let without = with
        settings.apply(to: &with)
        #expect(with == without)
        for entry in settings.entries {
            let values = [entry.text, SettingOptions.defaults[entry.key] ?? "-"].map { $0.trimmingSuffix("s") }
            #expect(values[0] == values[1], "\(entry.key)")
        }
    }

    @Test("With a wrong file, commands print one line and end with status 2; help and version do not read the file")
    func commands() async throws {
        try folder.write("retires: 3\n", to: "dlm/config.yaml")
        for arguments in [["list"], ["get", "http://h/"], ["get", "-b", "http://h/"], ["daemon", "run"]] {
            let (status, captured) = try await run(arguments, FakeService()) {
                $0.environment["XDG_CONFIG_HOME"] = folder.path
            }
            #expect(status == 2, "\(arguments)")
            #expect(captured.errors == "dlm: \(path):1: unknown key 'retires'; did you mean 'retries'?\n")
            #expect(captured.output == "")
        }
        let (status, _) = try await run(["--version"], FakeService()) {
            $0.environment["XDG_CONFIG_HOME"] = folder.path
        }
        #expect(status == 0)
    }
}

extension String {
    fileprivate func trimmingSuffix(_ suffix: String) -> Substring {
        hasSuffix(suffix) ? dropLast(suffix.count) : self[...]
    }
}
