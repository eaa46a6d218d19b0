import DownloadCore
import DownloadTestSupport
import Testing

@Suite(.inTurn) struct FileNamingTests {
    @Test("The user may choose any name that is one component and leaves room for .part")
    func usable() {
        for name in ["a", "a.txt", ".hidden", "...", "a\\b", "-rf", "~", "日本", " ", "x.part", long(250, "x")] {
            #expect(FileNaming.isUsable(name), "\(name)")
        }
        for name in ["", ".", "..", "/", "a/b", "/a", "a/", "a/\u{301}b", "a\0", long(251, "x"), long(252, "é")] {
            #expect(!FileNaming.isUsable(name), "\(name)")
        }
    }

    @Test(
        "A folder and a name make a path",
        arguments: [
            ("/tmp", "a", "/tmp/a"), ("/tmp/", "a", "/tmp/a"), ("/", "a", "/a"), ("", "a", "a"), ("/é", "日", "/é/日"),
        ])
    func path(_ folder: String, _ name: String, _ expected: String) {
        #expect(FileNaming.path(folder, name) == expected)
    }

    @Test(
        "An alternative name keeps the extension, even a double extension",
        arguments: [
            ("a.txt", 1, "a (1).txt"), ("a.tar.gz", 1, "a (1).tar.gz"), ("a.TAR.xz", 2, "a (2).TAR.xz"),
            ("a.b.tar.zst", 10, "a.b (10).tar.zst"), ("a", 1, "a (1)"), (".bashrc", 1, ".bashrc (1)"),
            (".config.json", 1, ".config (1).json"), (".tar.gz", 1, ".tar (1).gz"), ("atar.gz", 1, "atar (1).gz"),
            ("a.tar", 1, "a (1).tar"), ("a.tar.", 1, "a.tar. (1)"), ("...", 1, "... (1)"), ("a..b", 1, "a. (1).b"),
            ("a (1).txt", 1, "a (1) (1).txt"), ("Mr. Smith goes", 1, "Mr. Smith goes (1)"),
            ("a.txt.part", 1, "a.txt (1).part"), ("日本.語", 3, "日本 (3).語"), ("a b.c d.txt", 1, "a b.c d (1).txt"),
            ("a.abcdefghijklmnopqrstuvwx", 1, "a.abcdefghijklmnopqrstuvwx (1)"),
            ("a.abcdefghijklmnopqrstuvw", 1, "a (1).abcdefghijklmnopqrstuvw"),
            ("a.txt", Int.max, "a (9223372036854775807).txt"),
        ])
    func alternative(_ name: String, _ count: Int, _ expected: String) {
        #expect(FileNaming.alternative(name, count) == expected)
    }

    @Test(
        "The alternatives of a long name differ, are short enough and keep the extension",
        arguments: [
            long(246, "x") + ".iso", long(82, "日") + ".iso", long(243, "x") + ".tar.gz", long(250, "x"),
            long(250, "."), "a." + long(248, "x"), "a" + long(248, "\u{301}"), long(250, "👨‍👩‍👧‍👦") + ".mp4",
        ])
    func longAlternatives(_ name: String) {
        let made = [1, 2, 10, 999].map { FileNaming.alternative(name, $0) }
        #expect(Set(made + [name]).count == 5)
        for alternative in made {
            #expect(alternative.utf8.count <= 250)
            for suffix in [".iso", ".tar.gz", ".mp4"] where name.hasSuffix(suffix) {
                #expect(alternative.hasSuffix(")\(suffix)"))
            }
        }
    }

    @Test("A partial file is called name.part and fits in 255 bytes")
    func partial() {
        #expect(FileNaming.partial("a.txt") == "a.txt.part")
        #expect(FileNaming.partial("a.part") == "a.part.part")
        #expect(FileNaming.partial(".part") == ".part.part")
        #expect(FileNaming.partial(long(250, "x")) == long(250, "x") + ".part")
        #expect(FileNaming.partial(long(251, "x") + ".iso") == long(246, "x") + ".iso.part")
    }

    @Test("A partial file never has the final name, even at the limit", arguments: 240...256)
    func partialIsDistinct(_ length: Int) {
        for ending in ["", ".part", ".part.part", ".part.part.part"] {
            let name = long(length - ending.utf8.count, "x") + ending
            #expect(FileNaming.partial(name) != name)
            #expect(FileNaming.partial(name).utf8.count <= 255)
            #expect(FileNaming.partial(name).hasSuffix(".part"))
        }
    }

    @Test("`isPath` gives the same result as a comparison with the joined folder and name")
    func isPath() {
        let folders = ["", "/", "/a", "/a/", "/é", "a/b"], names = ["", "a", "b.bin", "é", "a/b"]
        for folder in folders {
            for name in names {
                let path = FileNaming.path(folder, name)
                for otherFolder in folders {
                    for otherName in names {
                        let isSame = FileNaming.path(otherFolder, otherName).utf8.elementsEqual(path.utf8)
                        #expect(FileNaming.isPath(path, of: otherName, in: otherFolder) == isSame)
                    }
                }
            }
        }
    }
}

/// Returns as many copies of `piece` as fit into `bytes`, filled up with `y`.
func long(_ bytes: Int, _ piece: String) -> String {
    let text = String(repeating: piece, count: bytes / piece.utf8.count)
    return text + String(repeating: "y", count: bytes - text.utf8.count)
}
