import HTTPTypes

/// Look-ups in the few fields of a response, line by line. The subscripts of `HTTPFields` make an index first, which
/// costs more than all the look-ups for a small file.
extension HTTPFields {
    /// Returns the value of each line of a field.
    package func values(_ name: HTTPField.Name) -> [String] { values(of: name.canonicalName) }

    /// Returns the lines of a field joined by commas (RFC 9110 section 5.3), or nil if there is no such field.
    package func value(_ name: HTTPField.Name) -> String? { value(of: name.canonicalName) }

    package func has(_ name: HTTPField.Name) -> Bool { has(name.canonicalName) }

    // These methods are for names without a constant. The names are in lower case.

    func values(of name: String) -> [String] {
        var values: [String] = []
        for index in indices where self[index].name.isCalled(name) { values.append(self[index].value) }
        return values
    }

    func value(of name: String) -> String? {
        var joined: String?
        for index in indices where self[index].name.isCalled(name) {
            joined = joined.map { "\($0), \(self[index].value)" } ?? self[index].value
        }
        return joined
    }

    func has(_ name: String) -> Bool { indices.contains { self[$0].name.isCalled(name) } }
}

extension HTTPField.Name {
    /// Compares the lengths first, because texts of more than 15 bytes are compared slowly.
    fileprivate func isCalled(_ name: String) -> Bool {
        canonicalName.utf8.count == name.utf8.count && canonicalName == name
    }
}
