import ArgumentParser
import DownloadKit
import Foundation

/// The options for the conditions under which an answer is accepted as the file, and a file as whole.
struct ValidationOptions: OptionTable {
    var verify: ProofPolicy?
    var expectType: [String] = []
    var expectStatus: StatusCodes?
    var maxSize: ByteSize?

    func validate() throws {
        for type in Self.types(expectType) where MediaRange(type.trimmingCharacters(in: .whitespaces)) == nil {
            throw ValidationError("--expect-type \(type): give a media type such as application/zip or image/*")
        }
    }

    private static func types(_ texts: [String]) -> [Substring] {
        texts.flatMap { $0.split(separator: ",", omittingEmptySubsequences: false) }
    }

    mutating func rows(_ row: inout OptionRows) {
        row(
            &verify, "verify", usual: "auto", .word("what"),
            "Choose the digests that a file must match if you give no checksum. headers: those that come with the "
                + "answer. auto: also one in a list beside a file of at least 8 MiB, such as SHA256SUMS, with at most "
                + "two small requests; more than 50 URLs are treated as with headers. require: look in all usual "
                + "places, for files of any size; without a digest, fail with status 9. off: none. Default: auto.",
            .field(\.proof, unless: .auto, shows: \.rawValue))
        row(
            &expectType, "expect-type", .texts("type"),
            "Accept only this media type, such as application/zip or image/*; repeatable, or several with commas. "
                + "With another type, such as the type of a login page, nothing is written, and the exit status is 9.",
            .sets {
                $0.validation.types = Self.types($1).compactMap { MediaRange($0.trimmingCharacters(in: .whitespaces)) }
            })
        row.show("expect-type") { request in
            let types = request.validation.types
            return types.isEmpty ? nil : types.map(\.description).joined(separator: ",")
        }
        row(
            &expectStatus, "expect-status", usual: "200", .read("codes", StatusCodes.expected(argument:)),
            "Accept only these status codes, such as 200,203; 206 (a part) counts as 200. Default: 200.",
            .field(\.validation.statuses))
        row(
            &maxSize, "max-size", .value("size"),
            "Refuse a file larger than this, such as 500M. If the server sends no size, the download stops at the "
                + "limit. Its partial file is kept, and can be continued with a larger limit.",
            .sets({ $0.validation.maximumSize = $1.bytes }, shows: { $0.validation.maximumSize.map(String.init) }))
    }
}

extension ProofPolicy: ExpressibleByArgument {}

extension StatusCodes: ParsedArgument {
    init(argument: String) throws {
        guard let codes = StatusCodes(argument) else {
            throw ValidationError("give status codes such as 403 or 403,520-529")
        }
        self = codes
    }

    /// Reads the value of `--expect-status`: status codes whose body can be a file.
    static func expected(argument: String) throws -> StatusCodes {
        let codes = try StatusCodes(argument: argument)
        if codes.overlaps(100...199) || codes.overlaps(300...399) {
            throw ValidationError("answers with these codes have no file: give 200 to 299, or errors from 400 on")
        }
        return codes
    }
}
