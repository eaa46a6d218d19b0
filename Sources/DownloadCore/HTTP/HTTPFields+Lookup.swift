import HTTPTypes

/// Look-ups in the few fields of a response, line by line. The subscripts of `HTTPFields` make an index first, which
/// costs more than all the look-ups for a small file.
extension HTTPFields {
    /// Returns the value of each line of a field.
    package func values(_ name: HTTPField.Name) -> [String] {
        var values: [String] = []
        for index in indices where self[index].name.isSame(as: name) { values.append(self[index].value) }
        return values
    }

    /// Returns the lines of a field joined by commas (RFC 9110 section 5.3), or nil if there is no such field.
    package func value(_ name: HTTPField.Name) -> String? {
        var joined: String?
        for index in indices where self[index].name.isSame(as: name) {
            joined = joined.map { "\($0), \(self[index].value)" } ?? self[index].value
        }
        return joined
    }

    /// Returns whether there is such a field.
    package func has(_ name: HTTPField.Name) -> Bool {
        indices.contains { self[$0].name.isSame(as: name) }
    }
}

extension HTTPField.Name {
    /// Compares the lengths first, because texts of more than 15 bytes are compared slowly.
    fileprivate func isSame(as other: HTTPField.Name) -> Bool {
        canonicalName.utf8.count == other.canonicalName.utf8.count && self == other
    }
}
