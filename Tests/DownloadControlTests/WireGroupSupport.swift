import DownloadCore

@testable import DownloadControl

extension WireGroup {
    /// Makes the group of a single request.
    init(_ request: DownloadRequest) { self.init(RequestList([request]).runs[0]) }

    func requests() throws -> [DownloadRequest] {
        var requests = RequestList()
        try append(to: &requests)
        return Array(requests)
    }
}
