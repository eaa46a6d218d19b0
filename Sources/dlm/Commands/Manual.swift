import ArgumentParser
import Foundation

/// `dlm manual FOLDER`: writes the man pages (`make generate`).
struct Manual: ContextCommand {
    static let configuration = CommandConfiguration(
        commandName: "manual",
        abstract: "Write the manual pages into a folder.", shouldDisplay: false)

    @Argument(help: ArgumentHelp("An existing folder.", valueName: "folder"), completion: .directory)
    var folder: String

    func validate() throws {
        var isFolder = ObjCBool(false)
        if !FileManager.default.fileExists(atPath: folder, isDirectory: &isFolder) || !isFolder.boolValue {
            throw ValidationError("\(folder): no such folder")
        }
    }

    func run(in context: Context) async throws -> Int32 {
        for page in try ManualPage.all() {
            try page.text.write(toFile: "\(folder)/\(page.fileName)", atomically: true, encoding: .utf8)
        }
        return 0
    }
}
