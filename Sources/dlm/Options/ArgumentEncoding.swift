import ArgumentParser

/// The check of the arguments as the system passes them. `CommandLine.arguments` silently replaces bytes that are not
/// UTF-8, so a file would get another name than the one that was typed.
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
