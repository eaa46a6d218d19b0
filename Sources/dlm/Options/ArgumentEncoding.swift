import ArgumentParser

/// The check that the arguments, as the system passes them, are UTF-8. `CommandLine.arguments` silently replaces other
/// bytes, so a file would get a different name than the user typed.
enum ArgumentEncoding {
    static func check(_ arguments: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?> = CommandLine.unsafeArgv) throws {
        for index in 1... {
            guard let argument = arguments[index] else { return }
            if String(validatingCString: argument) == nil {
                throw ValidationError("argument \(index) is not UTF-8; give names and URLs in UTF-8")
            }
        }
    }
}
