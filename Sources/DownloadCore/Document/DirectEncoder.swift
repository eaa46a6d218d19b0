/// An encoder that writes a value directly as the bytes of JSON, because Foundation's encoder takes several times as
/// long. The keys are in the order in which the value writes them. Numbers that JSON lacks are written as words, in the
/// form that ``JSONText`` reads.
package struct DirectEncoder: Encoder {
    fileprivate let output: Output
    /// The number of containers that are open around the value that this encoder writes.
    fileprivate let depth: Int

    package var codingPath: [any CodingKey] { [] }
    package var userInfo: [CodingUserInfoKey: Any] { [:] }

    package static func encode(_ value: some Encodable) throws -> String {
        String(decoding: try bytes(value), as: UTF8.self)
    }

    package static func bytes(_ value: some Encodable) throws -> [UInt8] {
        let output = Output()
        try value.encode(to: DirectEncoder(output: output, depth: 0))
        output.close(to: 0)
        return output.bytes
    }

    package func container<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedEncodingContainer<Key> {
        output.open("{", "}")
        return KeyedEncodingContainer(DirectObject(encoder: DirectEncoder(output: output, depth: depth + 1)))
    }

    package func unkeyedContainer() -> any UnkeyedEncodingContainer {
        output.open("[", "]")
        return DirectArray(encoder: DirectEncoder(output: output, depth: depth + 1))
    }

    package func singleValueContainer() -> any SingleValueEncodingContainer { self }
}

extension DirectEncoder {
    /// The JSON text written so far. An inner container is closed when something is written to a container around it.
    fileprivate final class Output {
        var bytes: [UInt8] = []
        private var closers: [UInt8] = []
        /// Whether the innermost open container still has no element.
        private var isFirst = true

        func open(_ opener: Unicode.Scalar, _ closer: Unicode.Scalar) {
            bytes.append(UInt8(ascii: opener))
            closers.append(UInt8(ascii: closer))
            isFirst = true
        }

        func close(to depth: Int) {
            while closers.count > depth {
                bytes.append(closers.removeLast())
                isFirst = false
            }
        }

        func next(at depth: Int) {
            close(to: depth)
            if !isFirst { bytes.append(UInt8(ascii: ",")) }
            isFirst = false
        }

        func write(_ text: String) { JSONText.append(text, to: &bytes) }

        func write(_ number: Double) {
            if number.isFinite {
                bytes += number.description.utf8
            } else {
                write(number.isNaN ? "nan" : number < 0 ? "-inf" : "inf")
            }
        }
    }
}

extension DirectEncoder: SingleValueEncodingContainer {
    package func encodeNil() { output.bytes += "null".utf8 }
    package func encode(_ value: Bool) { output.bytes += (value ? "true" : "false").utf8 }
    package func encode(_ value: String) { output.write(value) }
    package func encode(_ value: Double) { output.write(value) }
    package func encode(_ value: Float) { output.write(Double(value)) }
    package func encode(_ value: some FixedWidthInteger & Encodable) { output.bytes += String(value).utf8 }
    package func encode(_ value: some Encodable) throws { try value.encode(to: self) }
}

private struct DirectObject<Key: CodingKey>: KeyedEncodingContainerProtocol {
    let encoder: DirectEncoder
    var codingPath: [any CodingKey] { [] }

    /// Writes the key, and returns the encoder for its value.
    private func value(of key: some CodingKey) -> DirectEncoder {
        encoder.output.next(at: encoder.depth)
        encoder.output.write(key.stringValue)
        encoder.output.bytes.append(UInt8(ascii: ":"))
        return encoder
    }

    func encodeNil(forKey key: Key) { value(of: key).encodeNil() }
    func encode(_ value: some Encodable, forKey key: Key) throws { try value.encode(to: self.value(of: key)) }

    func nestedContainer<Nested: CodingKey>(
        keyedBy type: Nested.Type, forKey key: Key
    ) -> KeyedEncodingContainer<Nested> {
        value(of: key).container(keyedBy: type)
    }

    func nestedUnkeyedContainer(forKey key: Key) -> any UnkeyedEncodingContainer { value(of: key).unkeyedContainer() }
    func superEncoder() -> any Encoder { value(of: SuperKey.super) }
    func superEncoder(forKey key: Key) -> any Encoder { value(of: key) }

    private enum SuperKey: String, CodingKey { case `super` }
}

private struct DirectArray: UnkeyedEncodingContainer {
    let encoder: DirectEncoder
    private(set) var count = 0
    var codingPath: [any CodingKey] { [] }

    init(encoder: DirectEncoder) { self.encoder = encoder }

    private mutating func element() -> DirectEncoder {
        encoder.output.next(at: encoder.depth)
        count += 1
        return encoder
    }

    mutating func encodeNil() { element().encodeNil() }
    mutating func encode(_ value: some Encodable) throws { try value.encode(to: element()) }

    mutating func nestedContainer<Nested: CodingKey>(keyedBy type: Nested.Type) -> KeyedEncodingContainer<Nested> {
        element().container(keyedBy: type)
    }

    mutating func nestedUnkeyedContainer() -> any UnkeyedEncodingContainer { element().unkeyedContainer() }
    mutating func superEncoder() -> any Encoder { element() }
}
