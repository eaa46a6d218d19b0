import DownloadCore
import Foundation

/// The body of `POST /v1/downloads`: URLs that share all other fields, or several groups of such URLs. The body
/// includes the secrets of the requests.
struct WireAdd: Sendable {
    let groups: [WireGroup]
    /// Whether the response is to be as short as possible: see ``WireAddedList``.
    var isBrief = false
}

extension WireAdd: Decodable {
    private enum Key: String, CodingKey {
        case groups
        case isBrief = "brief"
    }

    init(from decoder: any Decoder) throws {
        let values = try decoder.container(keyedBy: Key.self)
        groups = try values.decodeIfPresent([WireGroup].self, forKey: .groups) ?? [WireGroup(from: decoder)]
        isBrief = try values.decodeIfPresent(Bool.self, forKey: .isBrief) ?? false
    }
}

extension WireAdd {
    /// Decodes the body, with the same result as ``WireCoder``. For a long list of URLs this takes less time.
    static func read(_ document: Data) throws -> WireAdd {
        if let array = URLArray(in: document), let add = try? WireCoder.decode(WireAdd.self, array.rest),
            add.groups.count == 1, var group = add.groups.first
        {
            group.urls = array.urls
            return WireAdd(groups: [group], isBrief: add.isBrief)
        }
        return try WireCoder.decode(WireAdd.self, document)
    }

    /// Returns the JSON text of the body. An array of bytes grows several times as fast as `Data`.
    func json() throws -> Data {
        var text = Array((isBrief ? #"{"brief":true,"groups":["# : #"{"groups":["#).utf8)
        for (index, group) in groups.enumerated() {
            if index > 0 { text.append(UInt8(ascii: ",")) }
            try group.write(to: &text)
        }
        text.append(contentsOf: "]}".utf8)
        return Data(text)
    }
}
