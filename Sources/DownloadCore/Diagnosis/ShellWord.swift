/// The quoting of text as one word of a shell, for commands that the user can copy.
package enum ShellWord {
    package static func quoted(_ text: String) -> String {
        let isPlain = text.utf8.allSatisfy { $0.isLetterOrDigit || "/._-+,:@%".utf8.contains($0) }
        return isPlain && !text.isEmpty ? text : "'\(text.replacing("'", with: "'\\''"))'"
    }
}
