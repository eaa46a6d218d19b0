import DownloadCore

/// An error of PostgreSQL or its client library, before it becomes a ``DownloadError``.
struct PostgresFailure: Error, Equatable {
    enum Kind: Equatable {
        /// libpq cannot be loaded.
        case noLibrary
        /// The server was not reached, or the connection broke. The statement may have been done.
        case connectionLost
        /// The transaction was rolled back because of another transaction, and may be tried again.
        case conflict
        /// The worker's lease is over, and its URLs belong to other workers.
        case leaseLost
        /// The role has no right for this.
        case denied
        case other
    }

    let kind: Kind
    /// The message in one line.
    let message: String

    init(_ kind: Kind, _ message: String) {
        self.kind = kind
        self.message = message.split(whereSeparator: \.isWhitespace).joined(separator: " ")
    }

    /// - Parameter state: the SQLSTATE of the error (PostgreSQL's manual, appendix A); nil if there is none.
    init(state: String?, _ message: String) {
        let kind: Kind =
            switch state {
            case nil: .connectionLost
            // The classes of broken connections, of missing resources such as connections, and of a server that ends.
            case let state? where ["08", "53", "57"].contains(state.prefix(2)) && state != "57014": .connectionLost
            // A server that became a standby is read-only (25006) until the connection goes to its successor.
            case "40001", "40P01", "25006": .conflict
            case "DL001": .leaseLost
            case "42501", "28000", "28P01": .denied
            default: .other
            }
        self.init(kind, message)
    }

    /// Whether the same call may succeed a little later.
    var isTransient: Bool { kind == .connectionLost || kind == .conflict }

    func error(at location: QueueLocation) -> DownloadError {
        let text =
            switch kind {
            case .noLibrary:
                "PostgreSQL's client library is not installed (Debian: libpq5): \(message)"
            case .denied: "\(message); the role needs the rights of docs/postgres.md"
            default: message
            }
        return .sessionUnavailable(.storeUnreadable(path: location.name, message: text))
    }
}
