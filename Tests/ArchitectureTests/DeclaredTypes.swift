/// A declaration or an extension of a type in one file.
struct DeclaredType: Equatable {
    /// The name, which begins with the names of the enclosing types, such as `SegmentWriter.State`.
    let name: String
    let line: Int
    /// The number of lines, from the declaration to the end of the body.
    var length = 1
}

/// Finds the types that a file declares or extends.
struct DeclaredTypes {
    private enum Scope {
        /// The body of a type, by its place in `found`.
        case type(Int)
        case other
    }

    private static let keywords: Set = ["struct", "class", "actor", "enum", "extension"]

    private let tokens: [Token]
    private var found: [DeclaredType] = []
    private var scopes: [Scope] = []
    /// The type whose body begins with the next brace.
    private var next: Int?

    static func of(_ file: SourceFile) -> [DeclaredType] {
        var types = DeclaredTypes(tokens: file.tokens)
        for index in types.tokens.indices { types.read(index) }
        return types.found
    }

    private init(tokens: [Token]) { self.tokens = tokens }

    private func text(_ index: Int) -> String { Rule.text(tokens, index) }

    private mutating func read(_ index: Int) {
        switch text(index) {
        case "{":
            scopes.append(next.map(Scope.type) ?? .other)
            next = nil
        case "}":
            guard case .type(let type)? = scopes.popLast() else { return }
            found[type].length = tokens[index].line - found[type].line + 1
        case let word where Self.keywords.contains(word) && ![".", "import"].contains(text(index - 1)):
            if let name = name(index + 1) { declare(word, name, tokens[index].line) }
        default: break
        }
    }

    private mutating func declare(_ keyword: String, _ name: String, _ line: Int) {
        var name = name
        if keyword != "extension", case .type(let outer)? = scopes.last { name = found[outer].name + "." + name }
        next = found.count
        found.append(DeclaredType(name: name, line: line))
    }

    /// Returns the name of a type that begins at `index`, or nil if no type's name is there, as in `class func`.
    private func name(_ index: Int) -> String? {
        guard text(index).first?.isUppercase == true else { return nil }
        return text(index + 1) == "." ? name(index + 2).map { text(index) + "." + $0 } : text(index)
    }
}
