import ArgumentParser
import DownloadKit

/// A group of options. An option is one row: its property, its name and letter, how its value is read, its help, and
/// its effect on the request of a download, with what `dlm show` says of it.
protocol OptionTable: ParsableArguments, CustomReflectable, Equatable {
    /// The options of the rows, for reading words without the argument parser.
    static var catalog: OptionCatalog { get }

    /// Passes each option to `row`.
    mutating func rows(_ row: inout OptionRows)
}

extension OptionTable {
    static var catalog: OptionCatalog { OptionCatalog(rowsOf: Self.self) }

    /// Reads words without the argument parser. Returns nil if the parser must read them.
    static func scanned(_ arguments: some Collection<String>) -> Self? {
        guard let words = ScannedWords(arguments, catalog) else { return nil }
        var (options, row) = (Self(), OptionRows(.reading, words: words))
        row.group(&options)
        return row.failure == nil && row.words.operands.isEmpty ? options : nil
    }

    /// Reads arguments that come from a file or from the environment instead of a command line.
    static func read(_ arguments: [String]) throws -> Self { try scanned(arguments) ?? parse(arguments) }

    /// Reads options that come from a file or from the environment.
    /// - Parameters:
    ///   - arguments: Returns the arguments of an item.
    ///   - failure: Returns the error of an item; if it is nil, each item alone is valid, and their combination is not.
    static func read<Item, Failure: Error>(
        _ items: [Item], _ arguments: (Item) throws -> [String], failure: (any Error, Item?) -> Failure
    ) throws(Failure) -> Self {
        do {
            return try read(items.flatMap(arguments))
        } catch let combined {
            for item in items {
                do { _ = try read(arguments(item)) } catch { throw failure(error, item) }
            }
            throw failure(combined, nil)
        }
    }

    /// The default values by the names of the options, as they would be written in `config.yaml`. An option that has no
    /// value by default is left out.
    static var defaults: [String: String] {
        var (options, row) = (Self(), OptionRows(.describing))
        options.rows(&row)
        return row.defaults
    }

    /// Takes the values that the argument parser has read.
    init(from decoder: any Decoder) throws {
        self.init()
        var row = OptionRows(.decoding, values: try decoder.container(keyedBy: DocumentKey.self))
        rows(&row)
        if let failure = row.failure { throw failure }
    }

    /// The declarations for the argument parser, which looks for them by reflection.
    var customMirror: Mirror {
        var (options, row) = (self, OptionRows(.declaring))
        options.rows(&row)
        return Mirror(self, children: row.declared)
    }

    /// Applies the options that were given, and changes nothing else.
    /// - Parameter workingFolder: the absolute path from which relative folders start; nil if there is no usable one.
    func apply(to request: inout DownloadRequest, in workingFolder: String? = nil) throws {
        var (options, row) = (self, OptionRows(.applying, request: request, workingFolder: workingFolder))
        options.rows(&row)
        if let failure = row.failure { throw failure }
        if let changed = row.request { request = changed }
    }

    /// Returns the long names and the values of the options that `dlm show` prints under `options`. The value is empty
    /// for a flag. Values that are secret are not shown.
    static func given(in request: DownloadRequest) -> GivenOptions.List {
        var (options, row) = (Self(), OptionRows(.showing, request: request))
        options.rows(&row)
        return row.shown
    }
}

/// The visitor of the rows of an ``OptionTable``, which lists, describes, declares or reads options, applies them to a request, or
/// shows the options of a request.
struct OptionRows {
    enum Purpose { case listing, describing, declaring, decoding, reading, applying, showing }

    private let purpose: Purpose
    private(set) var listed: [OptionCatalog.Option] = []
    fileprivate var defaults: [String: String] = [:]
    fileprivate var declared: [Mirror.Child] = []
    private let values: KeyedDecodingContainer<DocumentKey>?
    fileprivate var words: ScannedWords
    fileprivate var request: DownloadRequest?
    fileprivate var failure: (any Error)?
    fileprivate var shown: GivenOptions.List = []
    /// The number of the groups until now, which distinguishes them for the argument parser.
    private var groups = 0
    let workingFolder: String?

    init(
        _ purpose: Purpose, values: KeyedDecodingContainer<DocumentKey>? = nil, words: ScannedWords = ScannedWords(),
        request: DownloadRequest? = nil, workingFolder: String? = nil
    ) {
        (self.purpose, self.values, self.words) = (purpose, values, words)
        (self.request, self.workingFolder) = (request, workingFolder)
    }

    /// - Parameters:
    ///   - secret: The part of the value that is a secret.
    ///   - usual: The default value, as it would be written in `config.yaml`.
    mutating func callAsFunction<Value: OptionValue>(
        _ value: inout Value, _ name: String, letter: Character? = nil, in places: OptionPlaces = .all,
        secret: OptionSecret? = nil, usual: @autoclosure () -> String? = nil, _ kind: OptionKind<Value>,
        _ help: @autoclosure () -> String,
        _ effect: @autoclosure () -> OptionEffect<Value.Given>? = nil
    ) {
        switch purpose {
        case .listing:
            for name in kind.hasOpposite ? [name, "no-" + name] : [name] {
                listed.append(
                    OptionCatalog.Option(
                        name: name, letter: letter, isFlag: kind.isFlag, isRepeatable: kind.isRepeatable,
                        isPath: kind.isPath, places: places, secret: secret))
            }
        case .describing: defaults[name] = usual() ?? (kind.isFlag ? "false" : nil)
        case .declaring: declared.append((name, kind.declared(Self.names(name, letter), help())))
        case .decoding:
            if kind.isFlag {
                decode(name, as: Flag<Value>.self) { value = $0.wrappedValue }
            } else {
                decode(name, as: Option<Value>.self) { value = $0.wrappedValue }
            }
        case .reading:
            let texts = words.texts(of: name, orOpposite: kind.hasOpposite)
            if !texts.isEmpty { attempt { value = try kind.value(texts) } }
        case .applying: if let given = value.given, let effect = effect() { change { try effect.sets(&$0, given) } }
        case .showing: if let effect = effect() { show(name, effect.shows) }
        }
    }

    mutating func pair<Pair: FlagPair>(
        _ value: inout Pair?, _ name: String, in places: OptionPlaces = .all,
        usual: @autoclosure () -> String? = nil, _ effect: @autoclosure () -> OptionEffect<Pair>? = nil
    ) {
        self(&value, name, in: places, usual: usual(), .pair(), "", effect())
    }

    /// Returns the names in the order of the shells' completions: the letter comes last if it begins the name.
    private static func names(_ name: String, _ letter: Character?) -> NameSpecification {
        guard let letter else { return .customLong(name) }
        return letter == name.first
            ? [.customLong(name), .customShort(letter)] : [.customShort(letter), .customLong(name)]
    }

    private mutating func decode<Property: Decodable>(_ key: String, as _: Property.Type, _ take: (Property) -> Void) {
        guard let values else { return }
        attempt { take(try values.decode(Property.self, forKey: DocumentKey(key))) }
    }

    private mutating func attempt(_ body: () throws -> Void) {
        guard failure == nil else { return }
        do { try body() } catch { failure = error }
    }

    /// - Parameter title: the title of the group in the help.
    mutating func group<Group: OptionTable>(_ group: inout Group, _ title: String = "") {
        groups += 1
        switch purpose {
        case .declaring: declared.append(("group\(groups)", OptionGroup<Group>(title: title)))
        case .decoding: decode("group\(groups)", as: OptionGroup<Group>.self) { group = $0.wrappedValue }
        case .listing, .describing, .reading, .applying, .showing: group.rows(&self)
        }
        if purpose == .reading { attempt { try group.validate() } }
    }

    /// The words that are neither options nor values of options.
    mutating func operands(_ operands: inout [String], _ word: String, _ help: String) {
        switch purpose {
        case .declaring:
            let help = ArgumentHelp(help, valueName: word)
            declared.append((word, Argument<[String]>(wrappedValue: [], help: help)))
        case .decoding: decode(word, as: Argument<[String]>.self) { operands = $0.wrappedValue }
        case .reading: swap(&operands, &words.operands)
        case .listing, .describing, .applying, .showing: break
        }
    }

    /// Changes the request, after the effects of the rows above.
    mutating func change(_ change: (inout DownloadRequest) throws -> Void) {
        guard purpose == .applying, failure == nil, var changed = request else { return }
        request = nil
        do { try change(&changed) } catch { failure = error }
        request = changed
    }

    /// Shows an option by a name, or in a place, that differs from its row.
    mutating func show(_ name: String, _ text: (DownloadRequest) -> String?) {
        show(name, each: { text($0).map { [$0] } ?? [] })
    }

    mutating func show(_ name: String, each texts: (DownloadRequest) -> [String]) {
        guard purpose == .showing, let request else { return }
        shown += texts(request).map { (name, $0) }
    }
}

extension DownloadRequest {
    /// The schedule, which is made by the first option that sets a part of it.
    var ownSchedule: DownloadSchedule {
        get { schedule ?? DownloadSchedule() }
        set { schedule = newValue }
    }

    /// The hooks, which are made by the first option that sets a part of them.
    var ownHooks: Hooks {
        get { hooks ?? Hooks() }
        set { hooks = newValue }
    }
}

protocol OptionValue {
    associatedtype Given

    /// The value for effects; nil if the option was not given.
    var given: Given? { get }
}

extension Optional: OptionValue {
    var given: Wrapped? { self }
}

extension Array: OptionValue {
    var given: [Element]? { isEmpty ? nil : self }
}

extension Bool: OptionValue {
    var given: Bool? { self ? true : nil }
}

extension Int: OptionValue {
    var given: Int? { self > 0 ? self : nil }
}

/// The effect of an option: the change of a request, and the text that `dlm show` prints for the request.
struct OptionEffect<Given> {
    let sets: (inout DownloadRequest, Given) throws -> Void
    var shows: (DownloadRequest) -> String? = { _ in nil }

    static func sets(
        _ sets: @escaping (inout DownloadRequest, Given) throws -> Void,
        shows: @escaping (DownloadRequest) -> String? = { _ in nil }
    ) -> Self {
        Self(sets: sets, shows: shows)
    }

    static func field(
        _ path: WritableKeyPath<DownloadRequest, Given?>, shows text: @escaping (Given) -> String = { "\($0)" }
    ) -> Self {
        Self(sets: { $0[keyPath: path] = $1 }, shows: { $0[keyPath: path].map(text) })
    }

    /// - Parameter usual: the value that is not shown.
    static func field(
        _ path: WritableKeyPath<DownloadRequest, Given>, unless usual: Given,
        shows text: @escaping (Given) -> String = { "\($0)" }
    ) -> Self where Given: Equatable {
        Self(sets: { $0[keyPath: path] = $1 }, shows: { $0[keyPath: path] == usual ? nil : text($0[keyPath: path]) })
    }
}

extension OptionEffect<Bool> {
    static func choice<Choice: Equatable>(_ path: WritableKeyPath<DownloadRequest, Choice?>, _ choice: Choice) -> Self {
        Self(
            sets: { request, _ in request[keyPath: path] = choice },
            shows: { GivenOptions.flag($0[keyPath: path] == choice) })
    }
}

extension OptionEffect<Seconds> {
    static func seconds(_ path: WritableKeyPath<DownloadRequest, Double?>) -> Self {
        Self(sets: { $0[keyPath: path] = $1.value }, shows: { $0[keyPath: path].map(GivenOptions.seconds) })
    }

    static func seconds(_ path: WritableKeyPath<DownloadRequest, Double>, unless usual: Double) -> Self {
        Self(
            sets: { $0[keyPath: path] = $1.value },
            shows: { $0[keyPath: path] == usual ? nil : GivenOptions.seconds($0[keyPath: path]) })
    }
}

extension OptionEffect<String> {
    /// The effect of an option that names a file. The request has the file's absolute path.
    static func file(_ path: WritableKeyPath<DownloadRequest, String?>) -> Self {
        Self(sets: { $0[keyPath: path] = FolderPath.file($1) }, shows: { $0[keyPath: path] })
    }
}
