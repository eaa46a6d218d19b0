/// The name of a field in a document.
package struct DocumentKey: CodingKey, ExpressibleByStringLiteral {
    package let stringValue: String
    package var intValue: Int? { nil }

    package init(_ name: String) { stringValue = name }
    package init(stringLiteral name: String) { stringValue = name }
    package init?(stringValue: String) { self.init(stringValue) }
    package init?(intValue: Int) { nil }
}

/// One field of a value: the field's name, and how the field is written to JSON and read again. Each type lists its
/// fields once (`documentFields`), so one line adds a property to both writing and reading. A field is left out of the
/// document if its value equals the usual value, for example the value in ``RequestDocument/baseline``.
package struct DocumentField<Root: Sendable>: Sendable {
    package typealias Writer = KeyedEncodingContainer<DocumentKey>
    package typealias Reader = KeyedDecodingContainer<DocumentKey>
    package typealias Path<Value> = WritableKeyPath<Root, Value> & Sendable

    package let name: String
    /// The inner fields, if this field is an object. Empty for a single value.
    package let parts: [DocumentField]
    /// Returns whether both values have the same value of the field. The field is left out of a document if its value
    /// is the usual one.
    package let isSame: @Sendable (Root, Root) -> Bool
    private let writing: @Sendable (_ value: Root, _ usual: Root, DocumentKey, inout Writer) throws -> Void
    private let reading: @Sendable (_ value: inout Root, DocumentKey, Reader) throws -> Void

    private init(
        name: String, parts: [DocumentField] = [], isSame: @escaping @Sendable (Root, Root) -> Bool,
        writing: @escaping @Sendable (Root, Root, DocumentKey, inout Writer) throws -> Void,
        reading: @escaping @Sendable (inout Root, DocumentKey, Reader) throws -> Void
    ) {
        (self.name, self.parts) = (name, parts)
        (self.isSame, self.writing, self.reading) = (isSame, writing, reading)
    }

    /// Makes a field of a single value. When the document lacks the field, the value stays as it was. The initializer
    /// is inlined, because access through a literal key path then becomes direct access.
    @inline(__always)
    init<Value: Codable & Equatable & Sendable>(_ name: String, _ path: any Path<Value>) {
        self.init(
            name: name, isSame: { $0[keyPath: path] == $1[keyPath: path] },
            writing: { value, _, key, document in try document.encode(value[keyPath: path], forKey: key) },
            reading: { value, key, document in
                guard let read = try document.decodeIfPresent(Value.self, forKey: key) else { return }
                value[keyPath: path] = read
            })
    }

    /// Makes a field whose value is an object. The document contains only those fields of the object whose values are
    /// not the usual ones.
    @inline(__always)
    init<Value: DocumentObject>(_ name: String, object path: any Path<Value>) {
        let fields = Value.documentFields
        self.init(
            name: name, parts: fields.map { $0.within(path) },
            isSame: { $0[keyPath: path] == $1[keyPath: path] },
            writing: { value, usual, key, document in
                var inner = document.nestedContainer(keyedBy: DocumentKey.self, forKey: key)
                let (value, usual) = (value[keyPath: path], usual[keyPath: path])
                for field in fields { try field.write(value, unless: usual, to: &inner) }
            },
            reading: { value, key, document in
                guard document.contains(key), try !document.decodeNil(forKey: key) else { return }
                let inner = try document.nestedContainer(keyedBy: DocumentKey.self, forKey: key)
                for field in fields { try field.read(into: &value[keyPath: path], from: inner) }
            })
    }

    /// Returns this field as a field of an outer value, which contains the value with this field at `path`.
    private func within<Outer: Sendable>(
        _ path: any WritableKeyPath<Outer, Root> & Sendable
    ) -> DocumentField<Outer> {
        DocumentField<Outer>(
            name: name, parts: parts.map { $0.within(path) },
            isSame: { isSame($0[keyPath: path], $1[keyPath: path]) },
            writing: { try writing($0[keyPath: path], $1[keyPath: path], $2, &$3) },
            reading: { try reading(&$0[keyPath: path], $1, $2) })
    }

    /// Writes the field, unless its value is the usual one.
    /// - Parameter name: Another name for the field in the document.
    package func write(_ value: Root, unless usual: Root, to document: inout Writer, as name: String? = nil) throws {
        if isSame(value, usual) { return }
        try writing(value, usual, DocumentKey(name ?? self.name), &document)
    }

    /// Reads the field if the document has it.
    /// - Parameter name: Another name for the field in the document.
    package func read(into value: inout Root, from document: Reader, as name: String? = nil) throws {
        try reading(&value, DocumentKey(name ?? self.name), document)
    }
}

extension Decoder {
    /// Returns the error for a value that cannot be read.
    func failure(_ why: String) -> DecodingError {
        .dataCorrupted(.init(codingPath: codingPath, debugDescription: why))
    }
}

/// A value whose document contains the fields in which it differs from a usual value.
protocol DocumentObject: Sendable, Equatable {
    static var documentFields: [DocumentField<Self>] { get }
}
