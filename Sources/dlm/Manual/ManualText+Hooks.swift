extension ManualText {
    static let hooks = """
        The program of --on-complete or --on-error is run once for each end of a download: when it is complete, or when \
        it has failed for good. A file that was there already, for which nothing was fetched, has none; nor has a \
        download that was paused or cancelled. It is run by the process that downloads, and dlm get waits for it; at most \
        four run at a time. After a crash, or a signal, what was not begun yet is run by the next dlm that downloads, or \
        by the background session; what was begun is never begun again. It is found when dlm get is called. There is no \
        shell, and there are no arguments: it reads the JSON of dlm get --json (event finished) from standard input, \
        what it prints goes to standard error, or to the log of the background session, and it runs in the folder of the \
        file. At --hook-timeout, or when dlm is interrupted, it and its children get SIGTERM, and SIGKILL two seconds \
        later. That it fails is told, and changes nothing in the exit status. Names come from servers: quote the \
        variables in scripts. dlm wait does not wait for hooks.
        """

    /// The variables that a hook's environment has beside those of dlm's environment.
    static let hookVariables = [
        ("DLM_ID", "The number of the download."),
        ("DLM_STATE", "completed or failed."),
        ("DLM_PATH", "The finished file; unset after a failure."),
        (
            "DLM_URL, DLM_EFFECTIVE_URL",
            "What was asked for, and where it came from; values called like secrets are ***."
        ),
        ("DLM_BYTES", "The size of the file, or what was fetched of it."),
        ("DLM_CHECKSUM", "What was verified, as ALGORITHM:HEX; unset when nothing was."),
        (
            "DLM_ERROR, DLM_ERROR_KIND, DLM_ERROR_REASON, DLM_HTTP_STATUS",
            "Why it failed: a sentence, the words of --json, and the server's status."
        ),
        ("DLM_EXIT_STATUS", "What dlm get would end with for this download."),
    ]
}
