import DownloadCore
import Foundation
import HTTPTypes

/// The calls that a scripted transfer makes to its sink: a head, the pieces of a body, and an ending.
package struct Playback: Sendable {
    package var head: ResponseHead?
    package var pieceCount = 0
    package var piece: @Sendable (Int) -> [UInt8] = { _ in [] }
    /// The ending. Nil means that nothing more happens until `cancel`.
    package var ending: TransferResult.Ending? = .complete
    package var trailers: HTTPFields?

    package static let pieceSize: Int64 = 16 << 10

    package init() {}
}

extension ResponseHead {
    /// Creates the head of an answer from this URL. A field with an impossible name is left out.
    package init(status: Int, fields list: [(name: String, value: String)], from url: SourceURL) {
        self.init(status: status)
        for field in list {
            guard let name = HTTPField.Name(field.name) else { continue }
            fields.append(HTTPField(name: name, value: field.value))
        }
        if (300..<400).contains(status), let location = fields[.location] {
            redirectURL = URL(string: location, relativeTo: URL(url))?.absoluteString
        }
    }
}

/// An allowance without limits.
package final class BoundlessAllowance: RateAllowance {
    package init() {}
    package func take(_ count: Int) -> Int { count }
    package func giveBack(_ count: Int) {}
}
