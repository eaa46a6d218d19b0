import ArgumentParser
import DownloadKit
import Synchronization

/// The reader of the options below the URLs of a list. Neighbouring URLs often have the same options, so the parsed
/// options of the last URL are kept. Only the name and the checksum of the file usually differ from URL to URL, so they
/// are set without the parser.
final class ListOptions: Sendable {
    struct Failure: Error {
        let line: Int
        let message: String
    }

    private struct Block {
        let lines: [String]
        let options: ItemOptions
    }

    private typealias Own = WritableKeyPath<ItemOptions, String?> & Sendable

    private static let own: [String: any Own] = ["output": \.place.output, "checksum": \.checksums.checksum]

    private let last = Mutex<Block?>(nil)

    func options(_ lines: [InputList.Line]) throws(Failure) -> ItemOptions {
        var common: [(line: Int, option: OptionText)] = []
        var own: [(line: Int, option: OptionText, path: any Own)] = []
        for line in lines {
            guard line.isReadable else { throw Failure(line: line.number, message: "is not UTF-8 text") }
            guard let option = OptionText(line.text) else {
                throw Failure(line: line.number, message: "give options for a URL as option=value, one in each line")
            }
            if let path = Self.own[option.name] {
                own.append((line.number, option, path))
            } else {
                common.append((line.number, option))
            }
        }
        var options = try shared(common)
        for (line, option, path) in own {
            options[keyPath: path] = option.value
            do {
                try options.place.validate()
                try options.checksums.validate()
                if option.name == "output", option.value == "-" {
                    throw ValidationError("standard output takes one download; give a file name")
                }
            } catch {
                throw Failure(line: line, message: option.problem(error))
            }
        }
        return options
    }

    private func shared(_ options: [(line: Int, option: OptionText)]) throws(Failure) -> ItemOptions {
        let lines = options.map(\.option.line)
        if let block = last.withLock(\.self), block.lines == lines { return block.options }
        let parsed = try Self.parsed(options)
        last.withLock { $0 = Block(lines: lines, options: parsed) }
        return parsed
    }

    private static func parsed(_ options: [(line: Int, option: OptionText)]) throws(Failure) -> ItemOptions {
        try ItemOptions.read(options, { try $0.option.arguments() }) { error, found in
            let message = found?.option.problem(error) ?? UsageReport.sentence(error, of: ItemOptions.self)
            return Failure(line: (found ?? options.last)?.line ?? 0, message: message)
        }
    }
}
