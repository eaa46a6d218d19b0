import Foundation

/// A line of a list that is a JSON object, with `url` and the options that could also be in indented lines below a URL.
enum JSONLine {
    /// Returns a JSON line in the form of a URL with indented options, and any other line without changes.
    static func plain(_ line: InputList.Line) throws(ListOptions.Failure) -> InputList.Line {
        // A line with a URL never begins with a brace.
        let first = line.text.utf8.first { $0 != UInt8(ascii: " ") && $0 != UInt8(ascii: "\t") }
        guard line.isReadable, first == UInt8(ascii: "{") else { return line }
        func failure(_ message: String) -> ListOptions.Failure {
            ListOptions.Failure(line: line.number, message: message)
        }
        let object: [String: Value]
        do {
            object = try JSONDecoder().decode([String: Value].self, from: Data(line.text.utf8))
        } catch {
            throw failure(
                "is not a JSON object of strings, numbers, true or false, and lists of these; give {\"url\": ...}")
        }
        guard let value = object["url"], !value.isList, let url = value.texts.first, !url.isEmpty else {
            throw failure("url: it is missing or not a string; give {\"url\": ...}")
        }
        var plain = line
        plain.text = url
        var options: [InputList.Line] = []
        for (name, value) in object.sorted(by: { $0.key < $1.key }) where name != "url" {
            for text in value.texts {
                // The option becomes a line `name=value`, so a name with `=` would move a part of it into the value.
                if name.contains("=") { throw failure("\(name): unknown option; give {\"name\": \"value\"}") }
                guard !(name + text).unicodeScalars.contains(where: { $0.value < 0x20 || $0.value == 0x7F }) else {
                    throw failure("\(name): contains a control character")
                }
                options.append(InputList.Line(number: line.number, text: " \(name)=\(text)"))
            }
        }
        plain.options = options + line.options
        return plain
    }

    private struct Value: Decodable {
        let texts: [String]
        var isList = false

        init(from decoder: any Decoder) throws {
            let container = try decoder.singleValueContainer()
            if container.decodeNil() {
                texts = []
            } else if let values = try? container.decode([Scalar].self) {
                (texts, isList) = (values.map(\.text), true)
            } else {
                texts = [try container.decode(Scalar.self).text]
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
