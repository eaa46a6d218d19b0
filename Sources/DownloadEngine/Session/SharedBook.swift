import DownloadCore

/// The book of a session, and the small files that the book does not know (``SmallFileQueue``). The session's actor and
/// the threads of the engine share the work on small files, and only this type brings the two together.
///
/// A caller that looks for downloads says which small files it must find: it asks ``entered`` or ``all``, again after
/// each wait. Only the callers in a list of ArchitectureTests may ask ``known``.
final class SharedBook {
    let files = SmallFileQueue()
    /// The waiting callers, by their numbers in the book.
    var waiting: [SessionBook.Waiter: CheckedContinuation<DownloadRecord?, Never>] = [:]

    /// The book as it is, in which small files that have begun may have no places. After each change, the callers whose
    /// waits are over get their answers.
    var known: SessionBook {
        didSet {
            if known.waiters.answers.isEmpty { return }
            for answer in known.takeAnswers() {
                waiting.removeValue(forKey: answer.waiter)?.resume(returning: answer.record)
            }
        }
    }

    init(_ book: SessionBook) { known = book }

    /// The book with a place for each small file that has begun.
    var entered: SessionBook {
        get {
            enter()
            return known
        }
        _modify {
            enter()
            yield &known
        }
    }

    /// The book with a place for each small file, begun or not. Downloads that may be changed are looked for here.
    var all: SessionBook {
        get {
            recallReady()
            return entered
        }
        _modify {
            recallReady()
            yield &entered
        }
    }

    /// Gives a place in the book to each small file that has begun.
    /// - Parameter onlyTransferring: Whether files whose bytes have come are left out.
    func enter(onlyTransferring: Bool = false) {
        let (news, begun) = files.enter(onlyTransferring: onlyTransferring)
        learn(news)
        for file in begun {
            known.enter(ActiveDownload(file.attempt.makeRecord(), file.attempt.control), from: file.slot)
        }
    }

    /// Puts the small files that have not begun back into the queue. Called when other downloads may come first now.
    func recallReady() {
        for entry in files.takeBack() { known.enlist(QueuedDownload(entry)) }
    }

    /// Enters into the book which slots the small files have passed on or freed. Called before anything that depends on
    /// slots.
    func learnSlots() { learn(files.takeNews()) }

    private func learn(_ news: [SmallFileQueue.News]) {
        for news in news {
            switch news {
            case .passed(let id, let slot): known.passSlot(from: id, to: slot)
            case .freed(let slot): known.freeSlot(slot)
            }
        }
    }

    /// Gives small files their places in the book, before ordinary attempts at them begin.
    func leave(_ ids: [DownloadID]) {
        enter()
        _ = files.remove(ids)
    }

    /// Removes small files that have ended.
    /// - Returns: Those that have places in the book.
    func end(_ ids: some Sequence<DownloadID>) -> Set<DownloadID> {
        learnSlots()
        return files.remove(ids)
    }
}
