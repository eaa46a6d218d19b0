import DownloadCore

extension LoadedSecrets {
    init(_ files: SecretFiles) throws(DownloadError) {
        self.init()
        if files.isEmpty { return }
        if let path = files.netrc { netrc = Netrc(try SecretFile.read(path)) }
        if let path = files.bearer { token = try Self.token(of: try SecretFile.read(path), path) }
        if files.cookies != nil || files.cookieJar != nil { cookies = try CookieList(files) }
    }

    /// Loads the secrets from files, and runs the command that prints a token.
    package static func load(_ files: SecretFiles) async throws(DownloadError) -> LoadedSecrets {
        var secrets = try LoadedSecrets(files)
        if let path = files.bearerCommand {
            secrets.token = try Self.token(of: try await SecretCommand.output(of: path), path)
        }
        return secrets
    }

    /// Throws an error early if a file is unusable. Files that can be read only once, such as pipes, are not read here.
    package static func check(_ files: SecretFiles) throws(DownloadError) {
        var files = files
        func mayBeRead(_ path: String) -> Bool { FileStatus.of(path)?.isRegular ?? true }
        for file in [\SecretFiles.netrc, \.bearer, \.cookies] where files[keyPath: file].map(mayBeRead) == false {
            files[keyPath: file] = nil
        }
        _ = try LoadedSecrets(files)
    }
}
