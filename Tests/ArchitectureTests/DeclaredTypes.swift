/// A declaration or an extension of a type in one file.
struct DeclaredType: Equatable {
    /// The name, which begins with the names of the enclosing types, such as `SegmentWriter.State`.
    let name: String
    let line: Int
    /// The number of stored properties. Static properties do not count.
    var stored = 0
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
        case "}": _ = scopes.popLast()
        case "let", "var":
            // Attributes and modifiers come before the keyword. A `let` or `var` in a pattern or function body is not
            // directly in the scope of a type.
            guard case .type(let type)? = scopes.last, !isStatic(index), isStored(index) else { return }
            found[type].stored += names(index)
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

    private func isStatic(_ index: Int) -> Bool {
        var before = index - 1
        while before >= 0, tokens[before].line == tokens[index].line, !["{", "}", ";"].contains(text(before)) {
            if ["static", "class"].contains(text(before)) { return true }
            before -= 1
        }
        return false
    }

    /// Returns the number of properties in a declaration, for example 2 for `var (a, b) = (0, 0)`.
    private func names(_ index: Int) -> Int {
        guard text(index + 1) == "(" else { return 1 }
        return 1 + tokens[(index + 1)...].prefix { $0.text != ")" }.count { $0.text == "," }
    }

    /// Returns whether the property is stored: it has no body, or a body that only observes changes.
    private func isStored(_ index: Int) -> Bool {
        var depth = 0
        for place in (index + 1)..<tokens.count {
            switch text(place) {
            case "(", "[": depth += 1
            case ")", "]": depth -= 1
            case "=" where depth == 0: return true
            case "{" where depth == 0: return ["didSet", "willSet"].contains(text(place + 1))
            default: break
            }
            if depth < 0 || depth == 0 && endsLine(place) { return true }
        }
        return true
    }

    /// Returns whether a declaration may end with this token. The token must be the last of its line. Neither this
    /// token nor the next one may continue the declaration.
    private func endsLine(_ index: Int) -> Bool {
        guard index + 1 < tokens.count, tokens[index + 1].line > tokens[index].line else { return false }
        return ![":", ",", "&", ">"].contains(text(index)) && text(index + 1) != "{"
    }
}
