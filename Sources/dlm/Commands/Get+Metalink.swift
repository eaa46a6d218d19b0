import ArgumentParser
import DownloadKit
import Foundation

/// `-M`: downloads the files of a Metalink document.
extension Get {
    func validateMetalink() throws {
        guard let metalinkFile else { return }
        if metalinkFile.isEmpty { throw ValidationError("-M: no file given") }
        if streams { throw ValidationError("-o -: standard output takes one URL; leave out -M") }
        if item.checksums.checksum != nil {
            throw ValidationError(
                "--checksum is for a single URL; leave it out, because the document of -M has checksums")
        }
        if !item.mirrors.mirror.isEmpty {
            throw ValidationError(
                "--mirror is for a single URL; leave it out, because the document of -M has sources")
        }
    }

    /// Reads the Metalink document. Returns a request for each of its files, and a rejection for each file that cannot
    /// be requested.
    func describedFiles(
        _ maker: RequestMaker, in context: Context
    ) async throws -> (requests: [DownloadRequest], rejected: [RejectedDocument]) {
        guard let metalinkFile else { return ([], []) }
        let document = try await MetalinkDocument(metalinkFile, maker, in: context)
        if item.place.output != nil, document.metalink.files.count > 1 {
            throw ValidationError("-o names one file, and \(document.name) has several; give them a folder with -d")
        }
        if !output.quiet {
            for line in document.metalink.skipped { context.console.report("\(document.name): \(line)") }
        }
        var rejected: [RejectedDocument] = []
        let requests = document.metalink.files.compactMap { file -> DownloadRequest? in
            if output.verbose > 0, !output.quiet, file.isSigned {
                context.console.report("\(document.name): \(file.name): its signature is not checked")
            }
            do {
                return try maker.request(for: file, of: document, near: item.mirrors.metalinkLocation)
            } catch let error as DownloadError {
                rejected.append(RejectedDocument(error))
            } catch {
                rejected.append(
                    RejectedDocument(file: document.name, message: UsageReport.sentence(error, of: ItemOptions.self)))
            }
            return nil
        }
        return (requests, rejected)
    }
}

struct MetalinkDocument: Sendable {
    let metalink: Metalink
    let name: String
    /// The URL of the document; nil for a file or standard input.
    let url: SourceURL?

    /// - Parameter place: A path, a URL, or `-` for standard input.
    init(_ place: String, _ maker: RequestMaker, in context: Context) async throws {
        let found = try await ChecksumFile.document(
            place, largest: Metalink.largest, in: context, like: maker.companion(of: [place]))
        metalink = try Metalink(found.bytes, name: found.name)
        (name, url) = (found.name, found.url)
    }
}

extension RequestMaker {
    /// Returns the request for a file that a Metalink document describes. Header fields and passwords from the command
    /// line are sent only to the server from which the document came.
    /// - Parameter location: The country whose sources are tried first (`--metalink-location`).
    func request(
        for file: Metalink.File, of document: MetalinkDocument, near location: String?
    ) throws -> DownloadRequest {
        let sources = file.sources(preferring: location)
        guard var request = try described(at: sources, from: document.url?.origin) else {
            let why = file.hasMetaURL ? "no http or https URL, but torrents or similar" : "no http or https URL"
            throw DownloadError.protocolViolated(.badMetalink("\(document.name): \(file.name): it has \(why)"))
        }
        try file.apply(to: &request)
        if let list {
            request.checksum = nil
            try list.settle(&request, isOnly: false)
        }
        return request
    }
}
