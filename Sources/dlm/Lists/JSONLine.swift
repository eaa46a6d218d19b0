import Foundation

/// A line of a list that is a JSON object, with `url` and the options that could also be in indented lines below a URL.
enum JSONLine {
    /// Returns whether the line is a JSON object. A line with a URL never begins with a brace.
    static func isObject(_ text: String) -> Bool {
        text.utf8.first { $0 != UInt8(ascii: " ") && $0 != UInt8(ascii: "\t") } == UInt8(ascii: "{")
    }

    /// Returns a JSON line in the form of a URL with indented options, and any other line without changes.
    static func plain(_ line: InputList.Line) throws(ListOptions.Failure) -> InputList.Line {
        guard line.isReadable, isObject(line.text) else { return line }
        let object: [String: Value]
        do {
            object = try JSONDecoder().decode([String: Value].self, from: Data(line.text.utf8))
        } catch {
            throw ListOptions.Failure(
                line: line.number,
                message:
                    "is not a JSON object of strings, numbers, true or false, and lists of these; give {\"url\": "
                    + "...}")
        }
        guard case .one(let url)? = object["url"], !url.isEmpty else {
            throw ListOptions.Failure(
                line: line.number,
                message: "url: it is missing or not a string; give {\"url\": ...}")
        }
        var plain = line
        plain.text = url
        var options: [InputList.Line] = []
        for (name, value) in object.sorted(by: { $0.key < $1.key }) where name != "url" {
            for text in value.texts {
                // The option becomes a line `name=value`, so a name with `=` would move a part of it into the value.
                if name.contains("=") {
                    throw ListOptions.Failure(
                        line: line.number, message: "\(name): unknown option; give {\"name\": \"value\"}")
                }
                guard !(name + text).unicodeScalars.contains(where: { $0.value < 0x20 || $0.value == 0x7F }) else {
                    throw ListOptions.Failure(line: line.number, message: "\(name): contains a control character")
                }
                options.append(InputList.Line(number: line.number, text: " \(name)=\(text)"))
            }
        }
        plain.options = options + line.options
        return plain
    }

    /// The value of an option in JSON.
    private enum Value: Decodable {
        case none
        case one(String)
        case several([String])

        var texts: [String] {
            switch self {
            case .none: []
            case .one(let text): [text]
            case .several(let texts): texts
            }
        }

        init(from decoder: any Decoder) throws {
            let container = try decoder.singleValueContainer()
            if container.decodeNil() {
                self = .none
            } else if let values = try? container.decode([Scalar].self) {
                self = .several(values.map(\.text))
            } else {
                self = .one(try container.decode(Scalar.self).text)
            }
        }
    }

    private struct Scalar: Decodable {
        let text: String

        init(from decoder: any Decoder) throws {
            let container = try decoder.singleValueContainer()
            if let text = try? container.decode(String.self) {
                self.text = text
            } else if let flag = try? container.decode(Bool.self) {
                text = flag ? "true" : "false"
            } else if let number = try? container.decode(Int64.self) {
                text = "\(number)"
            } else {
                text = "\(try container.decode(Double.self))"
            }
        }
    }
}
