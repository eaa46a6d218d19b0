import DownloadCore
import HTTPTypes

/// Response heads for tests, with fields by name.
extension ResponseHead {
    package static func of(_ status: Int, _ fields: [(name: String, value: String)] = []) -> ResponseHead {
        var head = ResponseHead(status: status)
        for field in fields {
            guard let name = HTTPField.Name(field.name) else { preconditionFailure("no field name: \(field.name)") }
            head.fields.append(HTTPField(name: name, value: field.value))
        }
        return head
    }

    /// Returns a 200 with its length.
    package static func whole(_ total: Int64, _ fields: [(name: String, value: String)] = []) -> ResponseHead {
        of(200, [("Content-Length", "\(total)")] + fields)
    }

    /// Returns a 206 with its range.
    package static func part(
        _ range: Range<Int64>, of total: Int64?, _ fields: [(name: String, value: String)] = []
    ) -> ResponseHead {
        let total = total.map { "\($0)" } ?? "*"
        return of(
            206, [("Content-Range", "bytes \(range.lowerBound)-\(range.upperBound - 1)/\(total)")] + fields)
    }
}
