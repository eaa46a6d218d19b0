/// A box for a large part of a value. Copies of the value share the box until one of them is changed, so that a copy
/// changes one reference count instead of that of each string. The box requires few protocols of its value, because
/// Swift looks up each required conformance at run time when it is first used.
@propertyWrapper
package struct Boxed<Value: Sendable>: Sendable {
    /// The storage. It is changed only by a struct that has the only reference to it.
    private final class Box: @unchecked Sendable {
        var value: Value

        init(_ value: Value) { self.value = value }
    }

    private var box: Box

    package init(wrappedValue: Value) { box = Box(wrappedValue) }

    package var wrappedValue: Value {
        _read { yield box.value }
        _modify {
            if !isKnownUniquelyReferenced(&box) { box = Box(box.value) }
            yield &box.value
        }
    }

    /// The box itself. If the box is passed on, the value is shared and not copied.
    package var projectedValue: Boxed {
        get { self }
        set { self = newValue }
    }
}

extension Boxed: CustomStringConvertible {
    /// The description of the value, which hides secrets.
    package var description: String { "\(box.value)" }
}

extension Boxed: Codable where Value: Codable {
    /// Decodes the value alone, without the box.
    package init(from decoder: any Decoder) throws { box = Box(try Value(from: decoder)) }

    package func encode(to encoder: any Encoder) throws { try box.value.encode(to: encoder) }
}

extension Boxed: Equatable where Value: Equatable {
    package static func == (first: Boxed, second: Boxed) -> Bool {
        first.box === second.box || first.box.value == second.box.value
    }
}
