import DownloadControl
import DownloadCore
import Foundation

/// The body of `POST /v1/downloads` with a Metalink document (`metalink`) in place of URLs.
enum MetalinkBody {
    /// Returns the body with a group for each file of the document, or nil if the body has no document. The other
    /// fields apply to each file; a `file` is used instead of the document's name.
    static func expanded(_ body: Data) throws -> Data? {
        guard var fields = JSONValue(body)?.fields, let text = fields.removeValue(forKey: "metalink")?.text else {
            return nil
        }
        for name in ["urls", "groups", "mirrors"] where fields[name] != nil {
            throw WireProblem("\(name): not possible together with metalink")
        }
        guard fields["folder"]?.text != nil else { throw WireProblem("folder: missing") }
        let brief = fields.removeValue(forKey: "brief")
        let files = try Metalink(text.utf8, name: "metalink").files
        // Each file gets a copy of the other fields.
        guard files.count * JSONValue.object(fields).data.count <= largest else {
            throw WireProblem("metalink: too many files for so long fields; give it without them")
        }
        let groups = JSONValue.array(try files.map { try group(of: $0, fields) })
        return JSONValue.object(["groups": groups].merging(brief.map { ["brief": $0] } ?? [:]) { $1 }).data
    }

    private static let largest = 16 << 20

    private static func group(of file: Metalink.File, _ fields: [String: JSONValue]) throws -> JSONValue {
        var (file, group) = (file, fields)
        let path = try file.path()
        file.sources.removeAll { !$0.url.isHTTP }
        let urls = file.sources(preferring: fields["location"]?.text)
        guard let url = urls.first else { throw WireProblem("metalink: \(file.name) has no http or https URL") }
        group["urls"] = [.string(url.string)]
        if urls.count > 1 { group["mirrors"] = .array(urls.dropFirst().map { .string($0.string) }) }
        if fields["file"] == nil {
            group["file"] = .string(path.name)
            let folder = path.folders.reduce(fields["folder"]?.text ?? "", FileNaming.path)
            group["folder"] = .string(folder)
        }
        group["size"] = file.size.map { .integer($0) }
        group["pieces"] = try file.pieces.flatMap { JSONValue(try JSONEncoder().encode($0)) }
        if fields["checksum"] == nil { group["checksum"] = file.checksum.map { .string($0.description) } }
        return .object(group)
    }
}
