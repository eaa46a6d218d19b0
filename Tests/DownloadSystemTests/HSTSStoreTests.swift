import DownloadTestSupport
import Testing

@testable import DownloadCore
@testable import DownloadSystem

@Suite("HSTSStore: hosts that want https")
struct HSTSStoreTests {
    @Test(
        "A host known to want https gets its requests over https; only the request's own origin gets credentials")
    func strictHosts() throws {
        let folder = try TemporaryFolder()
        let hosts = HSTSStore(path: folder.path + "/hsts")
        hosts.learn("max-age=1000", of: "b.example")
        let request = DownloadRequest(
            url: try SourceURL.parse("https://a.example/x").get().url, destination: Destination(folder: "/"))
        let mirror = try SourceURL.parse("http://b.example/x").get().url
        let route = RequestRoute(mirror, of: request, upgradedBy: hosts)
        #expect(route.url.string == "https://b.example/x" && !route.sendsCredentials)
        #expect(hosts.upgraded(location: "http://b.example/y", for: request) == "https://b.example/y")
        #expect(RequestRoute(request.url, of: request, upgradedBy: hosts).sendsCredentials)
        hosts.flush()
    }
}
