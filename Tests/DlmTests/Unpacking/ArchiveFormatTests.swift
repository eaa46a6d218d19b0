import Testing

@testable import dlm

@Suite("ArchiveFormat: what unpacks an archive, by its name")
struct ArchiveFormatTests {
    @Test(
        "The ending says the programs",
        arguments: [
            ("a.zip", ["unzip"]), ("A.ZIP", ["unzip"]), ("a.tar", ["tar"]), ("a.1.tar.gz", ["tar", "gzip"]),
            ("a.tgz", ["tar", "gzip"]), ("a.tar.zst", ["tar", "zstd"]), ("a.txz", ["tar", "xz"]),
            ("a.tar.bz2", ["tar", "bzip2"]), ("http://h/a.tar.xz", ["tar", "xz"]), ("a.gz", nil), ("tar", nil),
            ("", nil),
            ("a.tar.gz.part", nil), ("a.tar ", nil),
        ] as [(String, [String]?)])
    func ending(name: String, programs: [String]?) {
        #expect(ArchiveFormat(fileName: name)?.programs == programs)
    }
}
