import DownloadTestSupport
import Foundation
import Testing

@testable import DownloadCore

@Suite("Fuzzing: Metalink", .inTurn)
struct MetalinkFuzzTests {
    static let sha256 = String(repeating: "0aF9", count: 16)
    static let version4 = """
        <?xml version="1.0" encoding="UTF-8"?><!-- by hand -->
        <metalink xmlns="urn:ietf:params:xml:ns:metalink"><file name="a/b.iso"><size>3000</size>
        <hash type="sha-256">\(sha256)</hash><hash type="x">y</hash>
        <pieces length="2000" type="sha-256"><hash>\(sha256)</hash><hash>\(sha256)</hash></pieces>
        <url location="de" priority="2">http://a/b.iso?x=1&amp;y=&#x41;</url><url priority="1">https://b/b.iso</url>
        <url>ftp://c/b.iso</url><metaurl mediatype="torrent">http://t/</metaurl><signature>--</signature>
        </file></metalink>
        """
    static let version3 = """
        <metalink version="3.0" xmlns="http://www.metalinker.org/"><files><file name="b.iso"><size>5</size>
        <verification><hash type="md5">\(sha256.prefix(32))</hash></verification><resources>
        <url type="http" location="us" preference="90"><![CDATA[http://a/b.iso]]></url>
        <url type="bittorrent">http://a/b.torrent</url></resources></file></files></metalink>
        """

    @Test("The facts that are read from a document are consistent, and its names stay in the folder")
    func documents() {
        let words = [
            "<file name=\"", "</file>", "<url", "&amp;", "<![CDATA[", "]]>", "<!--", "-->", "<!DOCTYPE", "../", "~/",
            "/>",
        ]
        let fuzzing = Fuzzing("Metalink", corpus: [Self.version4, Self.version3], words: words)
        fuzzing.run { input in
            guard let metalink = try? Metalink(input, name: "doc") else { return nil }
            if metalink.files.isEmpty { return "no files" }
            for file in metalink.files {
                if let pieces = file.pieces, let size = file.size, !pieces.fits(size: size) { return "pieces" }
                if let checksum = file.checksum, Checksum(checksum.description) != checksum { return "\(checksum)" }
                guard let path = try? file.path() else { continue }
                let parts = path.folders + [path.name]
                if parts.contains(where: { ["", ".", ".."].contains($0) || $0.contains("/") || $0.hasPrefix("~") }) {
                    return "\(parts)"
                }
            }
            return nil
        }
        fuzzing.runsInLinearTime { _ = try? Metalink($0, name: "doc") }
    }

    @Test("Both versions of Metalink are read", arguments: [version4, version3])
    func versions(text: String) throws {
        let file = try #require(try Metalink(Array(text.utf8), name: "doc").files.first)
        #expect(file.unusable == 1)
        #expect(file.checksum != nil && file.size != nil)
        if text == Self.version4 {
            #expect(file.sources.map(\.url.string) == ["https://b/b.iso", "http://a/b.iso?x=1&y=A"])
            #expect(file.sources(preferring: "DE").map(\.host) == ["a", "b"])
            #expect(file.pieces?.count == 2 && file.pieces?.digest(1) == Self.sha256.lowercased()[...])
            #expect(file.hasMetaURL && file.isSigned)
            #expect(try file.path() == (["a"], "b.iso"))
        } else {
            #expect(file.sources.map(\.url.string) == ["http://a/b.iso"])
            #expect(file.sources.first?.location == "us")
        }
    }

    @Test("An empty size or digest is skipped with a message, and the rest of the document is used")
    func emptyElements() throws {
        let text = """
            <metalink><file name="a">
            <size></size><size>5</size>
            <hash type="sha-256"/><hash> </hash>
            <hash type="md5">\(Self.sha256.prefix(32))</hash><url>http://h/a</url>
            </file><file name="b"><size/><url>http://h/b</url></file></metalink>
            """
        let metalink = try Metalink(Array(text.utf8), name: "doc")
        #expect(metalink.files.map(\.size) == [5, nil])
        #expect(metalink.files.map(\.checksum?.algorithm) == [.md5, nil])
        #expect(
            metalink.skipped == [
                "line 2: the empty <size> of 'a' is skipped", "line 3: the empty <hash> of 'a' is skipped",
                "line 3: the empty <hash> of 'a' is skipped", "line 5: the empty <size> of 'b' is skipped",
            ])
        let many = "<metalink><file name=\"a\"><url>http://h/a</url>" + String(repeating: "<size/>", count: 1000)
        #expect(try Metalink(Array((many + "</file></metalink>").utf8), name: "doc").skipped.count == 20)
    }

    @Test(
        "Hidden names, and names that lead out of the folder, are refused",
        arguments: [
            "", "/etc/passwd", "~/x", "../x", "a/../x", "a/..", "a//b", "a/", ".bashrc", ".ssh/authorized_keys",
            "a/./b", "a\\b",
            "a\u{7}b", "a\u{202E}b", "./a", "~root/a", "a/~b",
        ])
    func names(name: String) {
        #expect(throws: DownloadError.fileFailed(.nameOutside, path: name.isEmpty ? "''" : name)) {
            try Metalink.File(name: name).path()
        }
    }

    @Test(
        "A document that is not valid Metalink is an error that names the fault",
        arguments: [
            ("", "no element"), ("<html/>", "not a Metalink document"), ("<metalink/>", "no file"),
            ("<!DOCTYPE x [<!ENTITY a \"b\">]><metalink/>", "document type"), ("<metalink>&x;</metalink>", "entity"),
            ("<metalink><file name='a'>\n<hash type='md5'>zz</hash></file></metalink>", "line 2"),
            ("<metalink><file name='a'></metalink>", "closes nothing"), ("<metalink><file name='a'/>", "not closed"),
            ("<?xml version='1.0' encoding='utf-16'?><metalink/>", "encoding"),
            (String(repeating: "<metalink>", count: 40), "deep"),
        ])
    func errors(text: String, why: String) {
        let error = #expect(throws: DownloadError.self) { try Metalink(Array(text.utf8), name: "doc") }
        #expect(
            error.map { "\($0)".contains(why) && "\($0)".hasPrefix("doc: ") } == true, "\(String(describing: error))")
    }
}
