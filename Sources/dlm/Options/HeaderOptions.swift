import ArgumentParser
import DownloadKit

/// The options for header fields of the request. Fields that may be secret are never stored.
struct HeaderOptions: ParsableArguments {
    @Option(
        name: [.customShort("H"), .long],
        help: ArgumentHelp("Send this header field, 'Name: value'; repeatable.", valueName: "header"))
    var header: [String] = []

    func validate() throws {
        // The value may be a secret, so the message does not repeat it.
        if let index = header.firstIndex(where: { RequestHeader($0) == nil }) {
            throw ValidationError("-H: header field \(index + 1) is not of the form 'Name: value'")
        }
    }

    /// Adds the given header fields to the request. Fields of the same names that the request already has are removed.
    /// If several given fields have the same name, all of them are added.
    func apply(to request: inout DownloadRequest) {
        guard !header.isEmpty else { return }
        let fields = header.compactMap(RequestHeader.init)
        let names = Set(fields.map { $0.name.lowercased() })
        request.headers = request.headers.filter { !names.contains($0.name.lowercased()) } + fields
    }
}

extension HeaderOptions: ScannedGroup {
    mutating func read(_ words: inout ScannedWords) {
        header = words.texts("header", "H")
    }
}
