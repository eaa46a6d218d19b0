import ArgumentParser
import DownloadKit

/// The options for header fields of the request. Fields that may be secret are never stored.
struct HeaderOptions: OptionTable {
    var header: [String] = []

    func validate() throws {
        // The value may be a secret, so the message does not repeat it.
        if let index = header.firstIndex(where: { RequestHeader($0) == nil }) {
            throw ValidationError("-H: header field \(index + 1) is not of the form 'Name: value'")
        }
    }

    mutating func rows(_ row: inout OptionRows) {
        row(
            &header, "header", letter: "H", secret: .header, .texts("header"),
            "Send this header field, 'Name: value'; repeatable.",
            .sets { request, given in
                // Fields of the same names that the request already has are removed. If several given fields have the
                // same name, all of them are added.
                let fields = given.compactMap(RequestHeader.init)
                let names = Set(fields.map { $0.name.lowercased() })
                request.headers = request.headers.filter { !names.contains($0.name.lowercased()) } + fields
            })
    }
}
