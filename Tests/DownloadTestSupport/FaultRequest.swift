/// A request in the form in which the server has read it.
package struct FaultRequest: Sendable, Equatable {
    package var method = "GET"
    /// The path and the query, as sent.
    package var target = "/"
    /// The fields in the order in which they came. The names are spelled as sent.
    package var fields: [(name: String, value: String)] = []
    /// The body, over HTTP/1 only.
    package var body: [UInt8] = []
    /// The address of the client, over HTTP/1 only.
    package var peer = ""
    package var isHTTP2 = false
    /// The number of the connection. The server numbers its connections from 1.
    package var connection = 1
    /// The number of the request. The server numbers the requests of all connections from 1.
    package var number = 1
    package var arrival = ContinuousClock.now

    package init() {}

    package static func == (left: Self, right: Self) -> Bool {
        left.method == right.method && left.target == right.target && left.number == right.number
            && left.fields.elementsEqual(right.fields) { $0 == $1 }
    }

    /// Returns the value of a field. The case of the name does not matter.
    package subscript(_ name: String) -> String? {
        fields.first { $0.name.lowercased() == name.lowercased() }?.value
    }

    /// Reads a request head without its empty line. Returns nil if the text is not a request head.
    package init?(head: String) {
        let lines = head.split(separator: "\r\n", omittingEmptySubsequences: true)
        guard let words = lines.first?.split(separator: " "), words.count == 3 else { return nil }
        method = String(words[0])
        target = String(words[1])
        for line in lines.dropFirst() {
            guard let colon = line.firstIndex(of: ":") else { return nil }
            let value = line[line.index(after: colon)...].drop { $0 == " " }
            fields.append((String(line[..<colon]), String(value)))
        }
    }

    /// Returns the first requested range, limited to `size` bytes (RFC 9110, section 14.1.2).
    package func range(in size: Int64) -> AskedRange {
        guard let value = self["Range"], value.hasPrefix("bytes="),
            let spec = value.dropFirst(6).split(separator: ",").first
        else { return .whole }
        let parts = spec.split(separator: "-", maxSplits: 1, omittingEmptySubsequences: false)
        guard parts.count == 2 else { return .whole }
        switch (Int64(parts[0]), Int64(parts[1])) {
        case (let first?, let last):
            let end = min(size, (last ?? size) == Int64.max ? size : (last.map { $0 + 1 } ?? size))
            return first < end ? .part(first..<end) : .unsatisfiable
        case (nil, let length?): return size > 0 && length > 0 ? .part(max(0, size - length)..<size) : .unsatisfiable
        case (nil, nil): return .whole
        }
    }

    package enum AskedRange: Sendable, Equatable {
        case whole
        case part(Range<Int64>)
        case unsatisfiable
    }
}
