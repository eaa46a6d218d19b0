import DownloadCore
import Foundation
import HTTPTypes
import DownloadTestSupport
import Testing

@Suite(.inTurn) struct ValidatorsHeadTests {
    static let modified = "Sun, 06 Nov 1994 08:49:37 GMT"

    static func validators(_ fields: [(HTTPField.Name, String)]) -> Validators {
        var head = ResponseHead(status: 206)
        for (name, value) in fields { head.fields.append(HTTPField(name: name, value: value)) }
        return Validators(head: head, now: Date())
    }

    @Test("A head without ETag and Last-Modified gives no validators")
    func none() {
        let validators = Self.validators([(.date, Self.modified), (.contentLength, "3")])
        #expect(validators.isEmpty)
        #expect(validators.ifRange == nil)
    }

    @Test("A strong ETag is sent in If-Range; a weak one is not, even with a strong date")
    func etags() {
        let dates: [(HTTPField.Name, String)] = [
            (.lastModified, Self.modified), (.date, "Mon, 07 Nov 1994 08:49:37 GMT"),
        ]
        let strong = Self.validators([(.eTag, "\"a\"")] + dates)
        #expect(strong.etag == EntityTag(opaque: "a"))
        #expect(strong.ifRange == "\"a\"")
        let weak = Self.validators([(.eTag, "W/\"a\"")] + dates)
        #expect(weak.etag == EntityTag(opaque: "a", isWeak: true))
        #expect(weak.ifRange == nil)
    }

    @Test("Malformed or repeated ETags are ignored", arguments: [["a"], ["\"a"], [""], ["\"a\"", "\"b\""]])
    func malformedETag(_ tags: [String]) {
        #expect(Self.validators(tags.map { (.eTag, $0) }).etag == nil)
    }

    @Test(
        "A date is strong if it is at least a minute before the answer's Date",
        arguments: [
            (modified, "Sun, 06 Nov 1994 08:50:37 GMT", true), (modified, "Sun, 06 Nov 1994 08:50:36 GMT", false),
            (modified, "Sun, 06 Nov 1994 08:49:37 GMT", false), (modified, "Sun, 06 Nov 1994 08:49:36 GMT", false),
            (modified, "Sat, 06 Nov 1993 08:49:37 GMT", false), (modified, "Mon, 07 Nov 1994 08:49:37 GMT", true),
            ("Sunday, 06-Nov-94 08:49:37 GMT", "Mon Nov  7 08:49:37 1994", true),
            (modified, "", false), (modified, "tomorrow", false), (modified, "3600", false),
            ("yesterday", "Mon, 07 Nov 1994 08:49:37 GMT", false), ("0", "Mon, 07 Nov 1994 08:49:37 GMT", false),
        ])
    func strength(_ modified: String, _ date: String, _ isStrong: Bool) {
        let validators = Self.validators([(.lastModified, modified), (.date, date)])
        #expect(validators.lastModified == modified)
        #expect(validators.lastModifiedIsStrong == isStrong)
        #expect(validators.ifRange == (isStrong ? modified : nil))
    }

    @Test("Without a Date field, Last-Modified is not strong")
    func noDate() {
        let validators = Self.validators([(.lastModified, Self.modified)])
        #expect(validators.lastModified == Self.modified)
        #expect(!validators.lastModifiedIsStrong)
    }

    @Test("An empty Last-Modified is ignored")
    func emptyDate() {
        #expect(Self.validators([(.lastModified, ""), (.date, Self.modified)]).isEmpty)
    }
}
