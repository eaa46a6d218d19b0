extension Rule {
    /// The maximum number of stored properties of a type, and of files with a declaration or extension of the type.
    static let typeLimits = (properties: 15, files: 4)

    /// The types that may have more stored properties, with the reason. Their properties do not change together. Each
    /// property is one value that a user sets or that a format defines.
    static let largeTypes: [String: String] = [
        "DownloadRequest": options,
        "EventDocument": document, "FinishedDocument": document,
        "ResumeData": row,
    ]

    private static let options = "each property is an option"
    private static let document = "each property is a field of a JSON document"
    private static let row = "each property is a column, or a field of a column, of the store"

    static let properties = Rule(description: "No type in Sources has more than 15 stored properties") { file in
        guard file.isSource, file.isSwift else { return [] }
        return DeclaredTypes.of(file).compactMap { type in
            guard type.stored > typeLimits.properties, largeTypes[type.name] == nil else { return nil }
            return Violation(
                path: file.path, line: type.line,
                message: "\(type.name) has \(type.stored) stored properties; find the values in it that change together"
            )
        }
    }

    /// Returns the types that are declared or extended in more files than allowed, with these files. The files of each
    /// module are counted separately.
    static func scatteredTypes(in files: [SourceFile]) -> [String: [String]] {
        var places: [String: Set<String>] = [:]
        for file in files where file.isSource && file.isSwift {
            for type in DeclaredTypes.of(file) { places["\(file.module).\(type.name)", default: []].insert(file.path) }
        }
        return places.filter { $0.value.count > typeLimits.files }.mapValues { $0.sorted() }
    }
}
