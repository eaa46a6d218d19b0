/// The parameters of a call, without the token. Errors have the same messages as in aria2.
struct Parameters: Sendable {
    let values: [JSONValue]

    /// Returns a parameter, or nil if it is left out.
    private func optional<Value>(_ index: Int, _ read: (JSONValue) -> Value?) throws(RPCError) -> Value? {
        guard index < values.count else { return nil }
        guard let value = read(values[index]) else { throw RPCError("The parameter at \(index) has wrong type.") }
        return value
    }

    private func required<Value>(_ index: Int, _ read: (JSONValue) -> Value?) throws(RPCError) -> Value {
        guard let value = try optional(index, read) else {
            throw RPCError("The parameter at \(index) is required but missing.")
        }
        return value
    }

    func text(_ index: Int) throws(RPCError) -> String { try required(index, \.text) }

    func integer(_ index: Int) throws(RPCError) -> Int { try required(index, \.whole) }

    /// Returns a place in the queue, or nil if it is left out.
    func position(_ index: Int) throws(RPCError) -> Int? {
        let position = try optional(index, \.whole)
        if let position, position < 0 { throw RPCError("Position must be greater than or equal to 0.") }
        return position
    }

    func list(_ index: Int) throws(RPCError) -> [JSONValue] { try required(index, \.values) }

    func fields(_ index: Int) throws(RPCError) -> [String: JSONValue] { try required(index, \.fields) }
    func optionalFields(_ index: Int) throws(RPCError) -> [String: JSONValue] { try optional(index, \.fields) ?? [:] }

    /// Returns the names of the requested fields; empty for all fields. Values that are not texts are ignored.
    func keys(_ index: Int) throws(RPCError) -> Set<String> {
        Set(try optional(index, \.values)?.compactMap(\.text) ?? [])
    }
}

extension JSONValue {
    /// The value as an integer of a reasonable size.
    fileprivate var whole: Int? {
        if case .integer(let number) = self, number.magnitude < 1 << 53 { Int(number) } else { nil }
    }
}
