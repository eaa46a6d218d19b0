import HTTPTypes

/// Look-ups in the few fields of a response, line by line. The subscripts of `HTTPFields` make an index first, which
/// costs more than all the look-ups for a small file.
extension HTTPFields {
    /// Returns the value of each line of a field.
    package func values(_ name: HTTPField.Name) -> [String] {
        var values: [String] = []
        for index in indices where self[index].name == name { values.append(self[index].value) }
        return values
    }

    /// Returns the lines of a field joined by commas (RFC 9110 section 5.3), or nil if there is no such field.
    package func value(_ name: HTTPField.Name) -> String? {
        var joined: String?
        for index in indices where self[index].name == name {
            joined = joined.map { "\($0), \(self[index].value)" } ?? self[index].value
        }
        return joined
    }
}
