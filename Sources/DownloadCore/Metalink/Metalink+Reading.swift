extension Metalink {
    /// Parses a document.
    /// - Parameter name: the name of the document, for messages.
    /// - Throws: ``ProtocolFailure/badMetalink(_:)``.
    public init(_ bytes: some Collection<UInt8>, name: String) throws(DownloadError) {
        func failure(_ why: String) -> DownloadError { .protocolViolated(.badMetalink("\(name): \(why)")) }
        if bytes.count > Self.largest { throw failure("too large for a Metalink document") }
        do throws(XMLReader.Failure) {
            var reader = try XMLReader(Array(bytes))
            var builder = Builder()
            var skipped: [String] = []
            while let token = try reader.next() {
                switch token {
                case .start(let name, let attributes): builder.start(name, attributes)
                case .text(let text): builder.add(text)
                case .end: builder.end()
                }
                if let message = builder.failure { throw reader.failure(message) }
                // Finding a line number means counting all lines before it, and a document may have many empty
                // elements. So the number of messages is limited.
                if let message = builder.takeSkipped(), skipped.count < Self.mostSkipped {
                    skipped.append("line \(reader.failure("").line): \(message)")
                }
            }
            files = builder.files
            self.skipped = skipped
        } catch {
            throw failure("line \(error.line): \(error.message)")
        }
        if files.isEmpty { throw failure("it describes no file") }
    }

    /// The builder of ``File`` values from the elements of a document, in either version of Metalink.
    private struct Builder {
        private struct Element {
            let name: String
            let attributes: [String: String]
            var text = ""
        }

        private(set) var files: [File] = []
        private(set) var failure: String?
        private var skipped: String?
        private var open: [Element] = []
        private var file: File?
        private var checksums: [Checksum.Algorithm: Checksum] = [:]
        private var pieces: [PieceHashes] = []
        private var digests: [String] = []

        /// The greatest length of the text of an element, in bytes.
        private static let longestText = 64 << 10
        /// The elements whose text is used.
        private static let meaningful: Set = ["size", "hash", "url"]

        mutating func start(_ name: String, _ attributes: [String: String]) {
            if open.isEmpty, name != "metalink" { failure = "not a Metalink document: it begins with <\(name)>" }
            if name == "file", isFilePlace {
                file = File(name: attributes["name"] ?? "")
                (checksums, pieces) = ([:], [])
            }
            if name == "pieces" { digests = [] }
            open.append(Element(name: name, attributes: attributes))
        }

        /// Whether a `file` element is allowed here: in `<metalink>`, and for version 3 in `<metalink><files>`.
        private var isFilePlace: Bool {
            file == nil && (open.count == 1 || open.count == 2 && open[1].name == "files")
        }

        mutating func add(_ text: String) {
            guard file != nil, let name = open.last?.name, Self.meaningful.contains(name),
                var element = open.popLast()
            else { return }
            element.text += text
            if element.text.utf8.count > Self.longestText { failure = "<\(element.name)> is too long" }
            open.append(element)
        }

        mutating func end() {
            guard let element = open.popLast(), file != nil else { return }
            let text = String(Substring(element.text.utf8.trimming(XMLReader.isSpace)))
            switch (element.name, open.last?.name) {
            case ("size", "file"): readSize(text)
            case ("hash", "file"), ("hash", "verification"): readHash(text, element.attributes["type"])
            case ("hash", "pieces"): digests.append(text)
            case ("pieces", "file"), ("pieces", "verification"): readPieces(element.attributes)
            case ("url", "file"), ("url", "resources"): readURL(text, element.attributes)
            case ("metaurl", "file"): file?.hasMetaURL = true
            case ("signature", "file"), ("signature", "verification"): file?.isSigned = true
            case ("file", _) where open.allSatisfy { $0.name != "file" }: finish()
            default: break
            }
        }

        /// Returns the reason why the last element was skipped, and forgets it. Returns nil if the element was not
        /// skipped.
        mutating func takeSkipped() -> String? { skipped.take() }

        /// Records that an element without a usable value is skipped. Some generators write such elements, so the
        /// document is not refused.
        private mutating func skip(_ element: String, _ text: String = "") {
            let value = text.isEmpty ? "empty <\(element)>" : "<\(element)> '\(text.prefix(40))'"
            skipped = "the \(value) of '\((file?.name ?? "").prefix(100))' is skipped"
        }

        private mutating func readSize(_ text: String) {
            guard let size = text.utf8.decimal else { return skip("size", text) }
            if let known = file?.size, known != size { failure = "two sizes for one file" }
            file?.size = size
        }

        private mutating func readHash(_ text: String, _ type: String?) {
            if text.isEmpty { return skip("hash") }
            guard let type, let algorithm = Checksum.Algorithm(name: type.utf8) else { return }
            guard algorithm.accepts(text.utf8) else {
                failure = "'\(text.prefix(40))' is no \(algorithm.rawValue)"
                return
            }
            let checksum = Checksum(algorithm: algorithm, digest: text)
            if let known = checksums.updateValue(checksum, forKey: algorithm), known != checksum {
                failure = "two \(algorithm.rawValue) digests for one file"
            }
        }

        /// Reads the digests of pieces. Digests that cannot be right are ignored. The file is then verified only as a
        /// whole.
        private mutating func readPieces(_ attributes: [String: String]) {
            defer { digests = [] }
            guard let type = attributes["type"], let algorithm = Checksum.Algorithm(name: type.utf8),
                let length = attributes["length"]?.utf8.decimal,
                let read = PieceHashes(algorithm: algorithm, length: length, digests: digests)
            else { return }
            pieces.append(read)
        }

        private mutating func readURL(_ text: String, _ attributes: [String: String]) {
            // URLs of local files are not allowed, because a document may come from anyone.
            guard case .success((let url, nil)) = SourceURL.parse(text), url.isHTTP,
                attributes["type"].map({ ["http", "https"].contains($0.lowercased()) }) ?? true
            else {
                file?.unusable += 1
                return
            }
            var priority = attributes["priority"]?.utf8.decimal ?? 999_999
            if let preference = attributes["preference"]?.utf8.decimal { priority = 101 - min(100, preference) }
            file?.sources.append(
                Source(url: url, priority: Int(clamping: priority), location: attributes["location"]?.lowercased()))
        }

        private mutating func finish() {
            guard var done = file else { return }
            file = nil
            for algorithm in Checksum.Algorithm.preferred.reversed() {
                done.checksum = checksums[algorithm] ?? done.checksum
                done.pieces = pieces.first { $0.algorithm == algorithm } ?? done.pieces
            }
            if let size = done.size, done.pieces?.fits(size: size) == false { done.pieces = nil }
            // Sources with the same priority keep their order.
            var sources = done.sources.enumerated().sorted { ($0.1.priority, $0.0) < ($1.1.priority, $1.0) }.map(\.1)
            var known = Set<SourceURL>()
            sources.removeAll { !known.insert($0.url).inserted }
            done.sources = Array(sources.prefix(Metalink.mostSources))
            files.append(done)
            if files.count > Metalink.mostFiles { failure = "more than \(Metalink.mostFiles) files" }
        }
    }
}
