import HTTPTypes

/// Look-ups in the few fields of a response, one by one: the subscripts of `HTTPFields` make an index first, which costs
/// more than all the questions that a small file asks.
extension HTTPFields {
    /// The value of each line of a field.
    package func values(_ name: HTTPField.Name) -> [String] {
        var values: [String] = []
        for field in self where field.name == name { values.append(field.value) }
        return values
    }

    /// The lines of a field joined by commas (RFC 9110 section 5.3); nil without one.
    package func value(_ name: HTTPField.Name) -> String? {
        var joined: String?
        for field in self where field.name == name { joined = joined.map { "\($0), \(field.value)" } ?? field.value }
        return joined
    }
}
