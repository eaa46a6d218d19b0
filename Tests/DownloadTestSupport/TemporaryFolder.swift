import CSystem
import Foundation

/// A folder for one test, which is deleted with this object.
package final class TemporaryFolder: Sendable {
    /// The absolute path, without a trailing slash.
    package let path: String

    /// - Parameter parent: the folder that contains this folder. Nil means the system's folder for temporary files.
    package init(in parent: String? = nil) throws {
        let parent = parent ?? FileManager.default.temporaryDirectory.path
        path = "\(parent)/dlm-\(UUID().uuidString.prefix(8))"
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
    }

    deinit { remove() }

    /// Returns the path of a file in the folder.
    package func callAsFunction(_ name: String) -> String { "\(path)/\(name)" }

    /// Returns the sorted names in this folder, or in a folder below it. The result is empty if there is no such
    /// folder.
    package func names(in folder: String = "") -> [String] {
        ((try? FileManager.default.contentsOfDirectory(atPath: self(folder))) ?? []).sorted()
    }

    package func exists(_ name: String) -> Bool { FileManager.default.fileExists(atPath: self(name)) }

    /// Makes a folder below this folder, unless it exists. Returns its path.
    @discardableResult
    package func makeFolder(_ name: String) throws -> String {
        try FileManager.default.createDirectory(atPath: self(name), withIntermediateDirectories: true)
        return self(name)
    }

    /// Writes a file, and makes its folder if necessary.
    package func write(_ text: String, to name: String) throws {
        let file = URL(fileURLWithPath: self(name))
        try FileManager.default.createDirectory(
            at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
        try Data(text.utf8).write(to: file)
    }

    package func read(_ name: String) throws -> String {
        String(decoding: try Data(contentsOf: URL(fileURLWithPath: self(name))), as: UTF8.self)
    }

    package func size(of name: String) throws -> Int64 {
        let attributes = try FileManager.default.attributesOfItem(atPath: self(name))
        return (attributes[.size] as? Int64) ?? Int64(attributes[.size] as? Int ?? -1)
    }

    /// Removes the folder. A process that is still ending may remove its own files at the same time, which makes
    /// `removeItem` fail: then the rest is removed by the next try.
    package func remove() {
        for isLast in [false, false, true] where FileManager.default.fileExists(atPath: path) {
            do { try FileManager.default.removeItem(atPath: path) } catch {
                if isLast { FileHandle.standardError.write(Data("cannot remove \(path): \(error)\n".utf8)) }
            }
        }
    }

    /// Opens a file without a name. The file is deleted when its descriptor is closed.
    package static func unnamedFile() throws -> Int32 {
        let descriptor = dlm_memory_file(nil, 0)
        guard descriptor >= 0 else { throw SystemError("memfd_create") }
        return descriptor
    }
}
