import DownloadCore
import DownloadTestSupport
import Testing

@Suite(.inTurn) struct ContentDispositionTests {
    @Test(
        "A plain file name is read with or without quotes, even if the field is malformed",
        arguments: NameCase.plainFields)
    func plain(_ text: String, _ expected: String, name: String?) {
        let disposition = ContentDisposition(fieldValue: text)
        #expect(disposition?.fileName == expected)
        #expect(disposition?.plainFileName == expected)
        #expect(disposition?.extendedFileName == nil)
    }

    @Test(
        "An extended file name is decoded and preferred, wherever it is in the field",
        arguments: NameCase.extendedFields)
    func extended(_ text: String, _ expected: String, name: String?) {
        let disposition = ContentDisposition(fieldValue: text)
        #expect(disposition?.fileName == expected)
        #expect(disposition?.extendedFileName == expected)
    }

    @Test("A malformed extended file name gives way to the plain one", arguments: NameCase.malformedExtendedValues)
    func malformedExtended(_ value: String) {
        let disposition = ContentDisposition(fieldValue: "attachment; filename*=\(value); filename=plain.txt")
        #expect(disposition?.fileName == "plain.txt")
        #expect(disposition?.extendedFileName == nil)
    }

    @Test("A disposition without a file name is valid, and has no name", arguments: NameCase.namelessFields)
    func nameless(_ text: String) {
        let disposition = ContentDisposition(fieldValue: text)
        #expect(disposition != nil)
        #expect(disposition?.fileName == nil)
    }

    @Test("A field without any text is not a disposition", arguments: ["", " ", ";", " ; ;\t"])
    func empty(_ text: String) {
        #expect(ContentDisposition(fieldValue: text) == nil)
    }
}
