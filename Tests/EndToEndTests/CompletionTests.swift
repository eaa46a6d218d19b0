import DownloadTestSupport
import Foundation
import Testing

extension EndToEnd {
    /// Tests the committed completions in the shells themselves. `make test` installs missing shells.
    @Suite("Completions in shells", .serialized, .timeLimit(.minutes(2)))
    struct CompletionTests {
        /// Runs a test with the downloads 1 to 3: failed, failed and completed. The completions are installed in the
        /// folders of the shells.
        private func withDownloads(_ body: (DlmSandbox) async throws -> Void) async throws {
            let content = Content(seed: 81, size: 1000)
            try await withDlm({ $0.target == "/done.bin" ? FaultReply(content) : FaultReply(status: 404) }) {
                sandbox, server in
                for name in ["debian-12.iso", "odd%20%1b%5b31m:name", "done.bin"] {
                    _ = try await sandbox.run("get", server.url("/\(name)"))
                }
                let states = try await sandbox.list().map(\.state)
                #expect(states.sorted() == ["completed", "failed", "failed"])
                try install(sandbox)
                try await body(sandbox)
            }
        }

        /// Installs the completions as `make install` does, below the home of the sandbox.
        private func install(_ sandbox: DlmSandbox) throws {
            let source = GeneratedFilesTests.root.appending(path: "completions").path
            let files = [
                ("dlm.bash", "share/bash-completion/completions", "dlm"), ("_dlm", "zsh", "_dlm"),
                ("dlm.fish", "config/fish/completions", "dlm.fish"),
            ]
            let manager = FileManager.default
            for (name, folder, installed) in files {
                let path = try sandbox.root.makeFolder(folder) + "/" + installed
                try manager.copyItem(atPath: "\(source)/\(name)", toPath: path)
            }
            let link = try sandbox.root.makeFolder("bin") + "/dlm"
            try manager.createSymbolicLink(atPath: link, withDestinationPath: try DlmSandbox.binary)
        }

        private func shell(_ sandbox: DlmSandbox, _ words: String...) throws -> ProcessLaunch {
            var launch = try sandbox.launch([])
            (launch.executable, launch.arguments) = ("/usr/bin/env", words)
            launch.environment["PATH"] = sandbox.root("bin") + ":/usr/bin:/bin"
            launch.environment["XDG_DATA_HOME"] = sandbox.root("share")
            return launch
        }

        // MARK: bash

        /// Returns the completions of the last word in bash. bash-completion finds the completions by the name of the
        /// command.
        private func offered(_ line: String, _ sandbox: DlmSandbox) async throws -> [String] {
            let script = """
                . /usr/share/bash-completion/bash_completion
                if declare -F _comp_load >/dev/null; then _comp_load dlm; else _completion_loader dlm; fi
                read -r _ _ _ _ function _ <<<"$(complete -p dlm)"
                COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); COMP_LINE="$*"; COMP_POINT=${#COMP_LINE}
                "$function" dlm "${COMP_WORDS[COMP_CWORD]}" "${COMP_WORDS[COMP_CWORD - 1]}"
                printf '%s\\n' "${COMPREPLY[@]}"
                """
            let words = line.split(separator: " ", omittingEmptySubsequences: false).map { String($0) }
            var launch = try shell(sandbox, "bash", "--norc", "-c", script, "bash")
            launch.arguments += words
            let result = try await ChildProcess(launch).result()
            #expect(result.stderr == "", "\(line)")
            return result.outputLines.map { String($0) }
        }

        @Test("bash completes the numbers of downloads, states, files, values of options and commands")
        func bash() async throws {
            let cases = [
                ("resume ", ["2", "1"]), ("resume 2 ", ["1"]), ("show ", ["3", "2", "1"]), ("pause ", []),
                ("limit 1M ", ["2", "1"]), ("set-url ", ["2", "1"]), ("list --state p", ["paused"]),
                ("get --if-exists ", ["fail", "overwrite", "rename", "skip", "newer"]),
                ("get --color a", ["auto", "always"]), ("get --progress b", ["bar"]),
                ("get --checksum sha5", ["sha512:"]), ("get -x a", ["auto"]),
                ("get --checksum-file do", ["done.bin"]), ("res", ["resume"]), ("get --if-e", ["--if-exists"]),
            ]
            try await withDownloads { sandbox in
                for (line, expected) in cases {
                    let offered = try await offered("dlm \(line)", sandbox)
                    #expect(offered == expected, "\(line)")
                }
            }
        }

        // MARK: zsh and fish

        /// Types a line and the completion key, and waits until the terminal shows all of these texts.
        private func expect(
            _ shown: [String], after line: String, _ launch: ProcessLaunch, setup: String,
            sourceLocation: SourceLocation = #_sourceLocation
        ) async throws {
            var launch = launch
            launch.terminalColumns = 100
            // Otherwise the standard output of the shell would be a pipe.
            launch.arguments = ["sh", "-c", "exec \"$@\" >&2", "sh"] + launch.arguments
            let process = try ChildProcess(launch)
            defer { process.send(SIGKILL) }
            process.type(setup + "\n")
            #expect(await process.waitForOutput { $0.errorText.contains("READY> ") }, sourceLocation: sourceLocation)
            process.type(line)
            var came = false
            // A key press may be lost while the shell still draws its prompt.
            for _ in 1...6 where !came {
                process.type("\t")
                came = await process.waitForOutput(atMost: .seconds(8)) { output in
                    let text = Self.plain(output.errorText)
                    return shown.allSatisfy { text.contains($0) }
                }
            }
            let text = Self.plain(process.standardError)
            #expect(came, "\(line): \(text.suffix(1000))", sourceLocation: sourceLocation)
            #expect(!process.standardError.contains("\u{1B}[31m:name"), sourceLocation: sourceLocation)
        }

        /// Removes colours and movements of the cursor.
        private static func plain(_ text: String) -> String {
            text.replacing(/\x1b\[[0-9;?]*[a-zA-Z]|\x1b\([A-Z0-9]|\x0f/, with: "")
        }

        @Test("zsh describes downloads by name and state, and completes commands and options")
        func zsh() async throws {
            try await withDownloads { sandbox in
                let zsh = try shell(sandbox, "zsh", "-f", "-i")
                let setup = """
                    fpath=('\(sandbox.root("zsh"))' $fpath); autoload -Uz compinit; compinit -u -D; PS1='READY''> '
                    """
                let described = ["2  -- odd", ":name (failed)", "1  -- debian-12.iso (failed)"]
                try await expect(described, after: "dlm resume ", zsh, setup: setup)
                try await expect(["3  -- done.bin (completed)"], after: "dlm show ", zsh, setup: setup)
                try await expect(["queued", "waiting", "cancelled"], after: "dlm list --state ", zsh, setup: setup)
                try await expect(["overwrite", "newer"], after: "dlm get --if-exists ", zsh, setup: setup)
                try await expect(["sha256:", "md5:"], after: "dlm get --checksum ", zsh, setup: setup)
                try await expect(["dlm get -i done.bin"], after: "dlm get -i do", zsh, setup: setup)
                try await expect(["set-url", "config"], after: "dlm ", zsh, setup: setup)
            }
        }

        @Test("fish describes downloads by name and state, and completes commands and options")
        func fish() async throws {
            try await withDownloads { sandbox in
                let fish = try shell(sandbox, "fish", "--no-config", "-i")
                let setup = """
                    source '\(sandbox.root("config/fish/completions/dlm.fish"))'; \
                    function fish_prompt; echo 'READY''> '; end
                    """
                let described = [":name (failed)", "debian-12.iso (failed)"]
                try await expect(described, after: "dlm resume ", fish, setup: setup)
                try await expect(["done.bin (completed)"], after: "dlm show ", fish, setup: setup)
                try await expect(["queued", "waiting", "cancelled"], after: "dlm list --state ", fish, setup: setup)
                try await expect(["overwrite", "newer"], after: "dlm get --if-exists ", fish, setup: setup)
                try await expect(["done.bin"], after: "dlm get -i do", fish, setup: setup)
                try await expect(["cancel", "config"], after: "dlm ", fish, setup: setup)
            }
        }
    }
}
