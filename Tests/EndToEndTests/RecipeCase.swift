import DownloadTestSupport
import Foundation
import Testing

/// The test of one recipe of the README: how to run the recipe, and the expected result.
struct RecipeCase: Sendable, CustomTestStringConvertible {
    let title: String
    let check: @Sendable (Kitchen) async throws -> Void

    init(_ title: String, _ check: @escaping @Sendable (Kitchen) async throws -> Void) {
        self.title = title
        self.check = check
    }

    var testDescription: String { title }

    static let all = [
        verified, signed, cron, script, list, background, night, crash, expired, limit, stream, unpacked, type, hook,
        verify, mirror, workers, doctor,
    ]

    static let workers = RecipeCase("A million URLs, on many machines") { kitchen in
        try kitchen.sandbox.root.write("https://example.org/prices.csv\n", to: "files/urls.txt")
        try await kitchen.typeAll().expectSuccess()
        for index in 1..<8 {
            let shard = "--shard \(index)/8 --manifest manifest-\(index).jsonl"
            try await kitchen.type("dlm get -i urls.txt -d data --name-by hash --spread \(shard)").expectSuccess()
        }
        let summary = try await kitchen.type("dlm manifest summary manifest-*.jsonl")
        #expect(summary.stdout.contains(": 1 done, "), "\(summary.stdout)\(summary.stderr)")
    }

    static let mirror = RecipeCase("Use the mirror that answers") { kitchen in
        try await kitchen.typeAll().expectSuccess()
        try kitchen.expectFile("debian-12.iso")
    }

    static let verified = RecipeCase("An ISO with the published checksum") { kitchen in
        let large = Content(seed: 3, size: 9 << 20)
        try kitchen.nginx.add(large, as: "debian-12.iso")
        let sums = "\(large.sha256)  debian-12.iso\n\(Kitchen.small.sha256)  prices.csv\n"
        try kitchen.nginx.add(Content(sums), as: "SHA256SUMS")
        try await kitchen.typeAll().expectSuccess()
        try kitchen.expectFile("debian-12.iso", is: large)
        try kitchen.nginx.add(Content(sums.replacing(large.sha256, with: Kitchen.small.sha256)), as: "SHA256SUMS")
        try FileManager.default.removeItem(atPath: kitchen.sandbox.file("debian-12.iso"))
        let wrong = try await kitchen.typeAll()
        #expect(wrong.ending == .exited(9), "\(wrong.stderr)")
        #expect(!kitchen.sandbox.exists("debian-12.iso"))
    }

    static let signed = RecipeCase("Only a file that its publisher has signed") { kitchen in
        try await SigningKit.with { kit in
            let large = Content(seed: 3, size: 9 << 20)
            try kitchen.nginx.add(large, as: "debian-12.iso")
            let sums = "\(large.sha256)  debian-12.iso\n"
            try kitchen.nginx.add(Content(sums), as: "SHA256SUMS")
            try FileManager.default.copyItem(
                atPath: kit.folder("good"), toPath: kitchen.sandbox.file("debian-keys.gpg"))
            #expect(try await kitchen.typeAll().ending == .exited(9))
            #expect(!kitchen.sandbox.exists("debian-12.iso"))
            let signature = try await kit.sign(Array(sums.utf8), as: "good", with: ["--detach-sign", "--armor"])
            try kitchen.nginx.add(Content(signature), as: "SHA256SUMS.sign")
            try await kitchen.typeAll().expectSuccess()
            try kitchen.expectFile("debian-12.iso", is: large)
        }
    }

    static let cron = RecipeCase("A mirror from cron") { kitchen in
        let command = try kitchen.recipe.cronCommands()[0]
        func night() async throws -> ChildProcess.Result { try await kitchen.runFromCron(command) }
        #expect(try await night().ending == .exited(0))
        let first = kitchen.nginx.log.count
        let again = try await night()
        #expect(again.ending == .exited(0))
        #expect(again.stderr == "", "cron would mail it")
        #expect(await kitchen.nginx.waitUntil { $0.count == first + 2 })
        #expect(kitchen.nginx.log.dropFirst(first).allSatisfy { $0.status == 304 && $0.bodyBytes == 0 })
        let newer = Content("a,b\n3,4\n5,6\n")
        try kitchen.nginx.add(newer, as: "prices.csv")
        #expect(try await night().ending == .exited(0))
        #expect(try sha256(of: kitchen.sandbox.root("home/mirror/prices.csv")) == newer.sha256)
        try FileManager.default.removeItem(atPath: kitchen.nginx.folder("files/report.zip"))
        let failed = try await night()
        #expect(failed.ending == .exited(8))
        #expect(failed.errorLines.count == 1, "\(failed.stderr)")
    }

    static let script = RecipeCase("In a script") { kitchen in
        let result = try await kitchen.typeAll()
        result.expectSuccess()
        #expect(result.stdout.contains("300000 \(kitchen.sandbox.file("backup.tar"))"), "\(result.stdout)")
    }

    static let list = RecipeCase("Many files") { kitchen in
        try kitchen.sandbox.root.write(try kitchen.recipe.block("urls.txt"), to: "files/urls.txt")
        try await kitchen.typeAll().expectSuccess()
        try kitchen.expectFile("data/prices.csv", is: Kitchen.small)
        try kitchen.expectFile("data/iso/debian.iso")
        let piped = try await kitchen.type("head -n 1 urls.txt | dlm get -i - -d piped")
        piped.expectSuccess()
        try kitchen.expectFile("piped/prices.csv", is: Kitchen.small)
    }

    static let background = RecipeCase("Start it now, look later") { kitchen in
        let result = try await kitchen.typeAll()
        result.expectSuccess()
        try kitchen.expectFile("backup.tar")
    }

    static let night = RecipeCase("A queue for the night") { kitchen in
        try kitchen.sandbox.root.write("https://example.org/prices.csv\n", to: "files/urls.txt")
        try await kitchen.typeAll().expectSuccess()
        #expect(kitchen.nginx.log.isEmpty, "the downloads are only added")
        let commands = try kitchen.recipe.cronCommands()
        let night = try await kitchen.runFromCron(commands[0])
        night.expectSuccess()
        try await kitchen.type("dlm wait 1").expectSuccess()
        try kitchen.expectFile("prices.csv", is: Kitchen.small)
        let morning = try await kitchen.runFromCron(commands[1])
        morning.expectSuccess()
        #expect(night.stderr + morning.stderr == "", "cron would mail it")
    }

    static let crash = RecipeCase("After a crash") { kitchen in
        try kitchen.nginx.add(Content(seed: 2, size: 64 << 20), as: "large.bin")
        let killed = try await kitchen.type(
            """
            dlm get -x 1 https://example.org/slow/large.bin & pid=$!
            until dlm list --json | grep -q '"received":[1-9]'; do :; done
            kill -9 $pid; wait $pid || true
            """)
        killed.expectSuccess()
        let result = try await kitchen.type(try kitchen.recipe.block("sh").replacing("--all", with: "--all -x 8"))
        result.expectSuccess()
        #expect(result.stdout.contains("its process ended"), "\(result.stdout)")
        try kitchen.expectFile("large.bin", is: Content(seed: 2, size: 64 << 20))
    }

    static let expired = RecipeCase("The link has expired") { kitchen in
        let gone = try await kitchen.type("dlm get -o debian-12.iso https://example.org/expired/debian-12.iso")
        #expect(gone.ending == .exited(8), "\(gone.stderr)")
        try await kitchen.typeAll().expectSuccess()
        try kitchen.expectFile("debian-12.iso")
    }

    static let limit = RecipeCase("Limit the speed") { kitchen in
        let content = Content(seed: 3, size: 32 << 20)
        try kitchen.nginx.add(content, as: "large.bin")
        try await kitchen.type("dlm get -b -x 1 https://example.org/slow/large.bin").expectSuccess()
        let lines = try kitchen.recipe.block("sh").split(separator: "\n").map(String.init)
        for (line, limit) in zip(lines, ["512000", "null"]) {
            try await kitchen.type(line).expectSuccess()
            let shown = try await kitchen.type("dlm show 1 --json | tr -d ' '")
            #expect(shown.stdout.contains("\"rateLimit\":\(limit)") || limit == "null", "\(shown.stdout)")
        }
    }

    static let stream = RecipeCase("Pipe a file into another program") { kitchen in
        try await kitchen.type("mkdir x; echo whole >x/inside; tar czf x.tar.gz x; rm -r x").expectSuccess()
        try FileManager.default.moveItem(
            atPath: kitchen.sandbox.file("x.tar.gz"), toPath: kitchen.nginx.folder("files/x.tar.gz"))
        try await kitchen.typeAll().expectSuccess()
        #expect(try kitchen.sandbox.root.read("files/x/inside") == "whole\n")
    }

    static let unpacked = RecipeCase("Unpack an archive") { kitchen in
        try await kitchen.type("mkdir x; echo whole >x/inside; tar -caf data.tar.zst x; rm -r x").expectSuccess()
        try FileManager.default.moveItem(
            atPath: kitchen.sandbox.file("data.tar.zst"), toPath: kitchen.nginx.folder("files/data.tar.zst"))
        try await kitchen.typeAll().expectSuccess()
        #expect(try kitchen.sandbox.root.read("files/data/x/inside") == "whole\n")
    }

    static let type = RecipeCase("No login page in place of a file") { kitchen in
        let refused = try await kitchen.typeAll()
        #expect(refused.ending == .exited(9), "\(refused.stderr)")
        #expect(!kitchen.sandbox.exists("report.zip"))
    }

    static let hook = RecipeCase("Run a program when a file is complete") { kitchen in
        let program = "#!/bin/sh\necho \"$DLM_PATH\" >>\(kitchen.sandbox.root("told"))\n"
        try kitchen.sandbox.root.write(program, to: "files/unpack")
        try await kitchen.type("chmod +x unpack").expectSuccess()
        try kitchen.nginx.add(Kitchen.small, as: "x.tar.gz")
        try await kitchen.typeAll().expectSuccess()
        try await kitchen.type("dlm wait 1").expectSuccess()
        let told = try await kitchen.type("until [ -s \(kitchen.sandbox.root("told")) ]; do :; done")
        told.expectSuccess()
        #expect(try kitchen.sandbox.root.read("told") == kitchen.sandbox.file("x.tar.gz") + "\n")
    }

    static let verify = RecipeCase("Check a file again") { kitchen in
        try Kitchen.iso.write(to: kitchen.sandbox.file("debian-12.iso"))
        try kitchen.sandbox.root.write("\(Kitchen.iso.sha256)  debian-12.iso\n", to: "files/SHA256SUMS")
        try await kitchen.typeAll().expectSuccess()
        try Kitchen.small.write(to: kitchen.sandbox.file("debian-12.iso"))
        let wrong = try await kitchen.typeAll()
        #expect(wrong.ending == .exited(9), "\(wrong.stderr)")
    }

    static let doctor = RecipeCase("Why does it not work?") { kitchen in
        let result = try await kitchen.typeAll()
        result.expectSuccess()
        #expect(result.stdout.contains(kitchen.proxy.url), "\(result.stdout)")
    }
}
