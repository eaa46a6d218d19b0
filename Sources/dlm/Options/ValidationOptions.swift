import ArgumentParser
import DownloadKit
import Foundation

/// The options for the conditions under which an answer is accepted as the file.
struct ValidationOptions: ParsableArguments {
    @Option(
        parsing: .singleValue,
        help: ArgumentHelp(
            "Accept only this media type, such as application/zip or image/*; repeatable, or several with commas. With "
                + "another type, such as the type of a login page, nothing is written, and the exit status is 9.",
            valueName: "type"))
    var expectType: [String] = []

    @Option(
        help: ArgumentHelp(
            "Accept only these status codes, such as 200,203; 206 (a part) counts as 200. Default: 200.",
            valueName: "codes"),
        transform: ExpectedCodes.init(argument:))
    var expectStatus: ExpectedCodes?

    @Option(
        help: ArgumentHelp(
            "Refuse a file larger than this, such as 500M. If the server sends no size, the download stops at the "
                + "limit. Its partial file is kept, and can be continued with a larger limit.", valueName: "size"),
        transform: ByteSize.init(argument:))
    var maxSize: ByteSize?

    private var types: [Substring] { expectType.flatMap { $0.split(separator: ",", omittingEmptySubsequences: false) } }

    func validate() throws {
        for type in types where MediaRange(type.trimmingCharacters(in: .whitespaces)) == nil {
            throw ValidationError("--expect-type \(type): give a media type such as application/zip or image/*")
        }
    }

    func apply(to request: inout DownloadRequest) {
        if !expectType.isEmpty {
            request.validation.types = types.compactMap { MediaRange($0.trimmingCharacters(in: .whitespaces)) }
        }
        if let expectStatus { request.validation.statuses = expectStatus.codes }
        if let maxSize { request.validation.maximumSize = maxSize.bytes }
    }
}

extension ValidationOptions: ScannedGroup {
    mutating func read(_ words: inout ScannedWords) {
        expectType = words.texts("expect-type")
        expectStatus = words.value("expect-status", as: ExpectedCodes.init(argument:))
        maxSize = words.value("max-size", as: ByteSize.init(argument:))
    }
}

extension ValidationOptions: TellingOptions {
    static func given(in request: DownloadRequest) -> GivenOptions.List {
        let validation = request.validation
        let types = validation.types.map(\.description).joined(separator: ",")
        return [
            ("expect-type", types.isEmpty ? nil : types), ("expect-status", validation.statuses?.description),
            ("max-size", validation.maximumSize.map(String.init)),
        ]
    }
}

/// A list of status codes, such as `403,520-529`.
struct CodeList: Equatable {
    let codes: StatusCodes

    init(argument: String) throws {
        guard let codes = StatusCodes(argument) else {
            throw ValidationError("give status codes such as 403 or 403,520-529")
        }
        self.codes = codes
    }
}

/// The value of `--expect-status`: status codes whose body can be a file.
struct ExpectedCodes: Equatable {
    let codes: StatusCodes

    init(argument: String) throws {
        codes = try CodeList(argument: argument).codes
        if codes.overlaps(100...199) || codes.overlaps(300...399) {
            throw ValidationError("answers with these codes have no file: give 200 to 299, or errors from 400 on")
        }
    }
}
